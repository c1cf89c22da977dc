/* SPDX-License-Identifier: MIT */
/* test_inside.c - what code finds in its box: programs that were listed, and no variable of the
 * host.  Every absence has its control: the same attempt where nothing forbids it. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- programs ------------------------------------------------------------------------------- */

/* What the languages' own functions start works by default. */
static void helpers_start(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "import subprocess, sys, multiprocessing, ctypes.util, platform\n"
                  "def run(*a, **k): return subprocess.run(*a, capture_output=True, text=True, "
                  "check=True, **k).stdout.strip()\n"
                  "out = [run([sys.executable, '-c', 'print(1 + 1)']), "
                  "run('echo hi | sed s/h/H/', shell=True), run(['uname']), "
                  "ctypes.util.find_library('c')[:4], platform.system()]\n"
                  "' '.join(out)",
        .r = "library(parallel)\n"
             "paste(system('expr 1 + 1', intern = TRUE), system('echo hi | sed s/h/H/', "
             "intern = TRUE), system2('uname', stdout = TRUE), 'libc', "
             "if (detectCores() > 0 && identical(mclapply(1:2, function(i) i), list(1L, 2L)) && "
             "nzchar(Sys.which('sed')) && "
             "system2('Rscript', c('-e', shQuote('cat(6 * 7)')), stdout = TRUE) == '42') "
             "'Linux' else 'no')",
        .lua = "local function run(c) local p = io.popen(c); local t = p:read('l'); p:close(); "
               "return t end\n"
               "return run('expr 1 + 1') .. ' ' .. run('echo hi | sed s/h/H/') .. ' ' .. "
               "run('uname') .. ' libc Linux'",
    };

    test_expect(session, test_phrase(w, &code), LAZ_VERDICT_OK, "\"2 Hi Linux libc Linux\"");
}

static void helpers_of_the_languages_start(void)
{
    test_each("limits.memory=unlimited", helpers_start);
}

/* setsid is on every Linux and no default. Its status, or what the language says instead. */
static const struct phrase start_setsid = {
    .python = "import subprocess\nsubprocess.run(['setsid', '--version'], "
              "stdout=subprocess.DEVNULL).returncode",
    .r = "as.integer(suppressWarnings(system('setsid --version', ignore.stdout = TRUE, "
         "ignore.stderr = TRUE)))",
    .lua = "local _, _, status = os.execute('setsid --version >/dev/null 2>&1')\nreturn status",
};

static void setsid_is_found(struct laz_session *session, const struct words *w)
{
    test_expect(session, test_phrase(w, &start_setsid), LAZ_VERDICT_OK, "0");
}

static void setsid_is_not_found(struct laz_session *session, const struct words *w)
{
    if (strcmp(w->runtime, "python") == 0)
        test_expect_error(session, test_phrase(w, &start_setsid), LAZ_VERDICT_ERROR,
                          "No such file or directory: 'setsid'");
    else
        test_expect(session, test_phrase(w, &start_setsid), LAZ_VERDICT_OK, "127");
}

static void an_unlisted_program_is_not_found(void)
{
    test_each("sandbox.programs=[\"default\", \"setsid\"]", setsid_is_found);
    test_each("sandbox.programs=\"any\"", setsid_is_found);
    test_each("", setsid_is_not_found);
}

/* The interpreter itself is part of the agent, and no program. R asks a shell where programs are
 * when it starts, and does not start without one. */
static void nothing_starts(const char *runtime, const char *settings, const char *code)
{
    struct laz_engine *engine = test_engine(settings);
    struct laz_session *session = engine ? test_session(engine, runtime) : NULL;

    if (session)
        test_expect(session, code, LAZ_VERDICT_OK, "42");
    laz_session_free(session);
    laz_engine_free(engine);
}

static void without_programs_the_language_still_works(void)
{
    nothing_starts("python", "sandbox.programs=[]",
                   "import subprocess\ntry:\n    subprocess.run('true', shell=True)\n    n = 1\n"
                   "except OSError as e:\n    n = 42\nn");
    nothing_starts("lua", "sandbox.programs=[]", "return os.execute('true') and 1 or 42");
    nothing_starts("r", "sandbox.programs=[\"sh\", \"which\"]",
                   "if (suppressWarnings(system('uname')) == 127) 42 else 1");
}

static void a_listed_program_that_is_missing_refuses_the_session(void)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_engine *engine = test_engine("sandbox.programs=[\"no-such-program\"]");
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    CU_ASSERT_EQUAL(laz_session_open(engine, &lua, &session, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "sandbox.programs: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no-such-program"));
    CU_ASSERT_PTR_NULL(session);
    laz_engine_free(engine);
}

/* ---- variables ------------------------------------------------------------------------------ */

#define POISON "poison-of-the-host"

static const char *const poisoned[] = {
    /* secrets, and the ways to them */
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "DATABASE_URL",
    "PGPASSWORD",
    "KRB5CCNAME",
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "XAUTHORITY",
    "http_proxy",
    "HTTPS_PROXY",
    "DOCKER_HOST",
    "KUBECONFIG",
    "LAZARET_POISON",
    "OLDPWD",
    "MAIL",
    "EDITOR",
    "PAGER",
    /* loaders, the C library, shells */
    "LD_PRELOAD_POISON",
    "LD_LIBRARY_PATH",
    "LD_AUDIT_POISON",
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "MALLOC_TRACE",
    "HOSTALIASES",
    "BASH_ENV",
    "ENV",
    "IFS",
    "PS4",
    "SHELLOPTS_POISON",
    "BASH_FUNC_ls%%",
    "PROMPT_COMMAND",
    /* interpreters */
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "R_LIBS",
    "R_LIBS_USER",
    "R_PROFILE",
    "R_PROFILE_USER",
    "R_ENVIRON",
    "R_ENVIRON_USER",
    "R_DEFAULT_PACKAGES",
    "LUA_INIT",
    "LUA_INIT_5_4",
    "LUA_PATH",
    "LUA_CPATH",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYOPT",
    "NODE_OPTIONS",
    "NODE_PATH",
    "JAVA_TOOL_OPTIONS",
    "CLASSPATH",
    "OPENSSL_CONF",
    "TCLLIBPATH",
    /* what the box gives itself */
    "HOME",
    "TMP",
    "TEMP",
    "USER",
    "LOGNAME",
    "LC_ALL",
    "LC_CTYPE",
    "LC_NUMERIC",
    "LANG",
    "PWD",
};

static void poison_all(void)
{
    for (size_t i = 0; i < sizeof poisoned / sizeof poisoned[0]; i++) {
        char value[64];
        snprintf(value, sizeof value, POISON "-%zu-", i);
        setenv(poisoned[i], value, 1);
    }
}

/* Every environment in the box: its own, that of each process it can see, and a child's. */
static void looking_everywhere(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "import os, subprocess\n"
                  "seen = [str(dict(os.environ)), subprocess.run(['env'], capture_output=True, "
                  "text=True).stdout]\n"
                  "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
                  "    try: seen.append(open(f'/proc/{pid}/environ', 'rb').read().decode())\n"
                  "    except OSError: pass\n"
                  "text = '\\n'.join(seen)\n"
                  "[len(text) > 60 and 'PATH' in text, text.count('" POISON "')]",
        .r = "seen <- c(paste(names(Sys.getenv()), Sys.getenv()), system('env', intern = TRUE), "
             "suppressWarnings(system('cat /proc/[0-9]*/environ 2>/dev/null | tr \"\\\\000\" "
             "\"\\\\n\"', intern = TRUE)))\n"
             "list(any(grepl('PATH', seen)), sum(grepl('" POISON "', seen)))",
        .lua = "local p = io.popen('env; cat /proc/[0-9]*/environ 2>/dev/null')\n"
               "local text = p:read('a')\np:close()\n"
               "local _, n = text:gsub('"
               "poison%-of%-the%-host"
               "', '')\n"
               "return {text:find('PATH') ~= nil, n}",
    };

    test_expect(session, test_phrase(w, &code), LAZ_VERDICT_OK, "[true,0]");
}

/* How many of them a plain child of this process sees. */
static size_t poison_of_a_child(void)
{
    char line[512];
    size_t n = 0;
    FILE *child = popen("exec env", "r");

    while (child && fgets(line, sizeof line, child))
        n += strstr(line, POISON) != NULL;
    if (child)
        pclose(child);
    return n;
}

static void no_variable_of_the_host_is_inside(void)
{
    poison_all();
    /* the shell in between drops IFS, PS4, PWD, OLDPWD and names that are none */
    CU_ASSERT(poison_of_a_child() >= sizeof poisoned / sizeof poisoned[0] - 6);
    test_each("", looking_everywhere);
}

static const struct unit_test tests[] = {
    UNIT(helpers_of_the_languages_start),
    UNIT(an_unlisted_program_is_not_found),
    UNIT(without_programs_the_language_still_works),
    UNIT(a_listed_program_that_is_missing_refuses_the_session),
    UNIT(no_variable_of_the_host_is_inside), /* last: it spoils this process's environment */
    {0},
};

int main(void)
{
    return unit_run("inside", tests);
}
