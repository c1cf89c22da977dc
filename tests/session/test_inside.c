/* SPDX-License-Identifier: MIT */
/* test_inside.c - what code finds in its box: the listed programs, and no terminal and no variable
 * of the host.
 * Every absence has a control: the same attempt where nothing prevents it. */
#include "live.h"

#include "os/directories.h"
#include "os/files.h"
#include "os/landlock.h"
#include "os/users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- terminals ------------------------------------------------------------------------------ */

/* Opens up to 40 pseudo-terminals: how many there were, and the error of the next. */
static void terminals_are(struct laz_engine *engine, bool warm, const char *expected)
{
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = "python", .warm = warm};
    struct laz_session *session = NULL;
    struct laz_error err = {0};
    int rc = engine ? laz_session_open(engine, &options, &session, &err) : LAZ_ENOENT;

    if (rc == LAZ_ENOENT)
        unit_skip("python", err.text);
    else
        UNIT_TEXT(err.text, "");
    if (session)
        test_expect(session,
                    "import os\n"
                    "fds, failed = [], 0\n"
                    "try:\n"
                    "    while len(fds) < 40:\n"
                    "        fds.append(os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY))\n"
                    "except OSError as e:\n"
                    "    failed = e.errno\n"
                    "for fd in fds: os.close(fd)\n"
                    "def speaks():\n"
                    "    a, b = os.openpty()\n"
                    "    os.write(b, b'x')\n"
                    "    return os.isatty(b) and os.read(a, 9) == b'x'\n"
                    "[len(fds), failed, speaks() if fds else None]",
                    LAZ_VERDICT_OK, expected);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void there_are_no_terminals_unless_they_are_asked_for(void)
{
    static const char tty[] = "sandbox.backend=bwrap;sandbox.tty=true;pool.warm=";
    char settings[96];

    terminals_are(test_engine_open("pool.warm=cold"), false, "[40,0,true]");
    terminals_are(test_engine("sandbox.backend=bwrap;pool.warm=cold"), false, "[0,2,null]");
    terminals_are(test_engine("sandbox.backend=bwrap;pool.warm=template"), true, "[0,2,null]");
    snprintf(settings, sizeof settings, "%scold", tty);
    terminals_are(test_engine(settings), false, "[40,0,true]");
    snprintf(settings, sizeof settings, "%stemplate", tty);
    terminals_are(test_engine(settings), true, "[16,28,true]");
}

/* The code of an ordinary user could open the user's own terminals. */
static void landlock_gives_terminals_to_a_uid_of_its_own_alone(void)
{
    static const char tty[] = "sandbox.backend=landlock;pool.warm=cold;sandbox.tty=true";
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    if (laz_os_landlock_abi() == 0 && unit_skip("landlock", "the kernel has none"))
        return;
    terminals_are(test_engine("sandbox.backend=landlock;pool.warm=cold"), false, "[0,13,null]");
    struct laz_engine *engine = test_engine(tty);
    if (laz_os_is_root()) {
        terminals_are(engine, false, "[40,0,true]");
        return;
    }
    CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, &err), LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "sandbox.tty: without a uid of its own"));
    laz_engine_free(engine);
}

/* ---- programs ------------------------------------------------------------------------------- */

/* Programs that the languages' own functions start work by default. */
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
    test_each_kept("limits.memory=unlimited", helpers_start);
}

/* setsid exists on every Linux but is not among the defaults. Gives its status, or the language's
 * error. */
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

static void what_would_allow_it_is_said(void)
{
    struct laz_engine *engine = test_engine(NULL);
    struct laz_session *session = test_session(engine, "lua");
    static const char says[] =
        "setsid is not among sandbox.programs: programs = [\\\"default\\\", \\\"setsid\\\"]";

    if (session) {
        struct laz_result *result = test_run(session, "os.execute('setsid --version')", NULL);
        CU_ASSERT(test_result_has(result, says));
        CU_ASSERT(test_result_has(result, "{\"what\":\"program\",\"name\":\"setsid\",\"count\":1,"
                                          "\"allow\":\"programs = [\\\"default\\\", "
                                          "\\\"setsid\\\"] below [sandbox]\","
                                          "\"retry\":\"useless\",\"source\":\"error\"}"));
        result = test_run(session, "os.execute('no-such-program')", NULL);
        CU_ASSERT_FALSE(test_result_has(result, "sandbox.programs"));
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void an_unlisted_program_is_not_found(void)
{
    test_in_lua("sandbox.programs=[\"default\", \"setsid\"]", setsid_is_found);
    test_in_lua("sandbox.programs=\"any\"", setsid_is_found);
    test_each_kept("limits.memory=unlimited", setsid_is_not_found);
}

/* The interpreter is part of the agent and not a program. R needs a shell to find programs when it
 * starts, and does not start without one. */
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
    /* secrets, and paths to them */
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
    /* variables that the box sets itself */
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

/* Searches every environment in the box: its own, that of each visible process, and a child's. */
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

/* Counts how many of them a plain child of this process sees. */
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
    /* the shell in between drops IFS, PS4, PWD, OLDPWD and invalid names */
    CU_ASSERT(poison_of_a_child() >= sizeof poisoned / sizeof poisoned[0] - 6);
    test_each("", looking_everywhere);
}

/* ---- what /proc tells ----------------------------------------------------------------------- */

static void looking_for_interrupts(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "[l.split() for l in open('/proc/stat') if l.startswith('intr')][0]",
        .r = "strsplit(grep('^intr', readLines('/proc/stat'), value = TRUE), ' ')[[1]]",
        .lua = "for l in io.lines('/proc/stat') do\n"
               "    local n = l:match('^intr (.*)')\n"
               "    if n then return {'intr', n} end\n"
               "end",
    };

    test_expect(session, test_phrase(w, &code), LAZ_VERDICT_OK, "[\"intr\",\"0\"]");
}

static void counts_of_interrupts_are_not_inside(void)
{
    char line[64] = "";
    FILE *stat = fopen("/proc/stat", "re");

    while (stat && strncmp(line, "intr ", 5) != 0 && fgets(line, sizeof line, stat))
        continue;
    if (stat)
        fclose(stat);
    CU_ASSERT(strncmp(line, "intr ", 5) == 0 && strcmp(line, "intr 0\n") != 0);
    test_each("", looking_for_interrupts);
}

/* ---- what a template loads ------------------------------------------------------------------ */

static char shared[] = "/var/tmp/lazaret-test-XXXXXX"; /* unlike /tmp, no box has its home there */

static void put(const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", shared, name);
    CU_ASSERT_EQUAL(laz_os_write_file(path, text, strlen(text), 0644, NULL), 0);
}

/* Replaces each "@" in the text by the directory's path. */
static const char *in_shared(const char *text)
{
    static char filled[1024];
    size_t n = 0;

    for (; *text && n < sizeof filled - sizeof shared; text++)
        n += (size_t)snprintf(filled + n, sizeof filled - n, *text == '@' ? "%s" : "%.1s",
                              *text == '@' ? shared : text);
    return filled;
}

/* A session leaves code where sessions may write; the next one comes from a template that was
 * started afterwards, and that has not run the code, although it is there. */
static void plant(const char *runtime, const char *settings, const char *code, const char *look)
{
    struct laz_engine *engine = test_engine(in_shared(settings));
    struct laz_session *session = engine ? test_warm_session(engine, runtime) : NULL;

    if (session) {
        test_expect(session, in_shared(code), LAZ_VERDICT_OK, "1");
        laz_session_free(session);
        session = test_warm_session(engine, runtime);
        test_expect(session, in_shared(look), LAZ_VERDICT_OK, "[false,true]");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

#define TEMPLATES                                                                                  \
    "sandbox.write=[\"@/"                                                                          \
    "out\"];pool.warm=\"template\";pool.renew_after=1;limits.memory=unlimited;"

/* The directory is also visible under another path: then sessions do without a template, unless the
 * settings require one. */
static void written_and_read(void)
{
    const struct laz_session_options warm = {.size = sizeof warm, .runtime = "lua", .warm = 1};
    static const char settings[] =
        "sandbox.write=[\"@/out\"];sandbox.read=[\"@/alias\"];pool.warm=";
    char text[256];

    for (int asked = 0; asked < 2; asked++) {
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        snprintf(text, sizeof text, "%s\"%s\"", settings, asked ? "template" : "auto");
        struct laz_engine *engine = test_engine(in_shared(text));
        CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
        int rc = laz_session_open(engine, &warm, &session, &err);
        if (rc == LAZ_ENOENT && unit_skip("lua", "this runtime was not built")) {
            laz_engine_free(engine);
            return;
        }
        CU_ASSERT_EQUAL(rc, asked ? LAZ_EREFUSED : 0);
        snprintf(text, sizeof text, "%s/alias, too: a template would run", shared);
        CU_ASSERT_EQUAL(strstr(err.text, text) != NULL, asked);
        if (session)
            test_expect(session, "return 1", LAZ_VERDICT_OK, "1");
        laz_session_free(session);
        laz_engine_free(engine);
    }
}

/* A link in a read-only directory leads Python there, variables lead R. Lua's state is made in the
 * session itself. */
static void a_template_runs_nothing_that_a_session_has_left(void)
{
    char path[128];

    if (getenv("TEST_WARM"))
        return; /* its settings name the template in every variant */
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(shared));
    CU_ASSERT_EQUAL(chmod(shared, 0755), 0);
    snprintf(path, sizeof path, "%s/lib", shared);
    CU_ASSERT_EQUAL(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/out", shared);
    CU_ASSERT_EQUAL(mkdir(path, 0777), 0);
    CU_ASSERT_EQUAL(chmod(path, 0777), 0); /* sessions of root have uids of their own */
    snprintf(path, sizeof path, "%s/out/kept", shared);
    CU_ASSERT_EQUAL(mkdir(path, 0777), 0);
    CU_ASSERT_EQUAL(chmod(path, 0777), 0);
    put("lib/loaded.py", "try:\n    import extra\nexcept ImportError:\n    pass\n");
    snprintf(path, sizeof path, "%s/lib/extra.py", shared);
    CU_ASSERT_EQUAL(symlink("../out/extra.py", path), 0);

    plant("python",
          TEMPLATES
          "sandbox.read=[\"@/out/kept\"];runtime.python.path=[\"@/lib\"];pool.preload=[\"loaded\"]",
          "open('@/out/extra.py', 'w').write('import builtins; builtins.caught = 1') and 1",
          "import builtins, os\n"
          "try:\n    open('@/out/kept/x', 'w')\n    kept = False\n"
          "except OSError:\n    kept = True\n"
          "[hasattr(builtins, 'caught'), kept and os.path.exists('@/out/extra.py')]");
    if (!getenv("TEST_RUNTIME") || getenv("LAZARET_TEST_FULL")) /* else Python stands for both */
        plant("r",
              TEMPLATES "env.set={R_LIBS='@/out',R_DEFAULT_PACKAGES='methods,utils,stats,planted'}",
              "p <- '@/out/planted'\n"
              "stopifnot(file.copy(file.path(R.home('library'), 'stats4'), '@/out', recursive = "
              "TRUE),\n"
              "          file.rename('@/out/stats4', p))\n"
              "meta <- readRDS(file.path(p, 'Meta/package.rds'))\n"
              "meta$DESCRIPTION['Package'] <- 'planted'\n"
              "saveRDS(meta, file.path(p, 'Meta/package.rds'))\n"
              "cat('options(caught = 1)\\n', file = file.path(p, 'R/planted'))\n"
              "1",
              "c(!is.null(getOption('caught')), file.exists('@/out/planted/R/planted') && "
              "'@/out' %in% .libPaths())");
    snprintf(path, sizeof path, "%s/alias", shared);
    CU_ASSERT_EQUAL(symlink("out", path), 0);
    written_and_read();
    laz_os_remove_tree(shared);
}

static const struct unit_test tests[] = {
    UNIT(there_are_no_terminals_unless_they_are_asked_for),
    UNIT(landlock_gives_terminals_to_a_uid_of_its_own_alone),
    UNIT(helpers_of_the_languages_start),
    UNIT(an_unlisted_program_is_not_found),
    UNIT(what_would_allow_it_is_said),
    UNIT(without_programs_the_language_still_works),
    UNIT(a_listed_program_that_is_missing_refuses_the_session),
    UNIT(a_template_runs_nothing_that_a_session_has_left),
    UNIT(counts_of_interrupts_are_not_inside),
    UNIT(no_variable_of_the_host_is_inside), /* last: it changes the environment */
    {0},
};

int main(void)
{
    int status = unit_run("inside", tests);

    test_kept_free();
    return status;
}
