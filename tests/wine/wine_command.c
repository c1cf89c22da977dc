/* SPDX-License-Identifier: MIT */
/* wine_command.c - the lazaret command on Windows: what it prints, and its exit status. */
#include "child.h"

#include "base/buf.h"
#include "tool/command.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/spawner.h"
#include "os/users.h"
#include "os/windows/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_WORDS 12

static char base[MAX_PATH * 3], program[MAX_PATH * 3], lazaret[MAX_PATH * 3]; /* base: removed */
static char settings[MAX_PATH * 4], wrong[MAX_PATH * 4], none[MAX_PATH * 4], log_file[MAX_PATH * 4];

/* ---- the tool that the settings name: this program ------------------------------------------- */

int child_main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[0], "greet") == 0) {
        printf("hello %s%s", argv[1], getenv("SystemRoot") ? "" : ", without a system");
        return 0;
    }
    if (argc == 2 && strcmp(argv[0], "fail") == 0) {
        fprintf(stderr, "%s is not known\n", argv[1]);
        return 300;
    }
    return 99;
}

/* ---- running it ------------------------------------------------------------------------------ */

struct answer {
    struct laz_buf out, errs;
    int status;
};

static void answer_fini(struct answer *answer)
{
    laz_buf_fini(&answer->out);
    laz_buf_fini(&answer->errs);
}

static struct answer ask(const char *const *words, const char *input)
{
    struct answer answer = {.out = LAZ_BUF_INIT, .errs = LAZ_BUF_INIT, .status = -1};
    const char *argv[COMMAND_WORDS + 2] = {lazaret};
    const struct laz_command command = {.size = sizeof command,
                                        .argv = argv,
                                        .input = input,
                                        .input_len = input ? strlen(input) : 0};
    struct laz_command_result result = {.size = sizeof result};
    struct laz_spawner *spawner = NULL;
    struct laz_strv env = LAZ_STRV_INIT;
    struct laz_error err = {0};

    for (size_t i = 0; i < COMMAND_WORDS && words[i]; i++)
        argv[i + 1] = words[i];
    CU_ASSERT_EQUAL_FATAL(laz_spawner_new(&spawner, NULL), 0);
    CU_ASSERT_EQUAL(laz_command_environment(&env, NULL), 0);
    laz_strv_addf(&env, "LAZARET_AGENT=%s", getenv("LAZARET_AGENT"));
    laz_strv_addf(&env, "LAZARET_PLUGIN_PATH=%s", getenv("LAZARET_PLUGIN_PATH"));
    if (laz_command_run(spawner, &command, (const char *const *)env.items, -1, LAZ_OS_FOREVER,
                        &result, &answer.out, &answer.errs, &err) == 0)
        answer.status = result.exit_status;
    else
        printf("\n    %s\n", err.text);
    laz_strv_fini(&env);
    laz_spawner_free(spawner);
    return answer;
}

struct row {
    const char *words[COMMAND_WORDS], *input;
    int status;
    const char *out, *err; /* out: exact; err: a part; NULL: anything */
};

static void row_holds(const struct row *row)
{
    struct answer answer = ask(row->words, row->input);
    bool holds = answer.status == row->status &&
                 (!row->out || strcmp(laz_buf_text(&answer.out), row->out) == 0) &&
                 (!row->err || strstr(laz_buf_text(&answer.errs), row->err));

    if (!holds) {
        printf("\n    %s %s %s: status %d\n    out: %s\n    err: %s\n", row->words[0],
               row->words[1], row->words[2] ? row->words[2] : "", answer.status,
               laz_buf_text(&answer.out), laz_buf_text(&answer.errs));
        CU_FAIL("it is not as the row says");
    }
    answer_fini(&answer);
}

#define ROWS_HOLD(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)                                     \
    row_holds(&(rows)[i])

/* ---- tests ----------------------------------------------------------------------------------- */

static void code_runs_with_tools_and_its_end_is_the_status(void)
{
    static const struct row rows[] = {
        {{"--config", settings, "run", "-e", "return 1 + 1"}, NULL, 0, "2\n", ""},
        {{"--config", settings, "run", "-e", "return '\xc3\xa4\xe2\x82\xac'"},
         NULL,
         0,
         "\xc3\xa4\xe2\x82\xac\n",
         ""},
        {{"--config", settings, "run", "-"}, "return 6 * 7", 0, "42\n", ""},
        {{"--config", settings, "run", "-e", "io.write('a\\nb')"}, NULL, 0, NULL, ""},
        {{"--config", settings, "run", "-e", "return greet{name = 'you and \\\"me\\\"'}"},
         NULL,
         0,
         "hello you and \"me\"\n",
         ""},
        {{"--config", settings, "run", "-e", "return greet{name = '\xc3\xa4 %PATH% & x'}"},
         NULL,
         0,
         "hello \xc3\xa4 %PATH% & x\n",
         ""},
        {{"--config", settings, "run", "-e", "return fail{name = 'he'}"},
         NULL,
         1,
         "",
         "he is not known"},
        {{"--config", settings, "run", "-e", "error('no')"}, NULL, 1, "", "no"},
        {{"--config", settings, "run", "-e", "return ("}, NULL, 1, "", "syntax error"},
        {{"--config", settings, "--timeout", "1", "run", "-e", "while true do end"},
         NULL,
         124,
         "",
         "timed out"},
        {{"--config", settings, "run", none}, NULL, 2, "", "none.toml"},
    };

    ROWS_HOLD(rows);
}

static void what_is_missing_is_said_before_anything_runs(void)
{
    static const struct row rows[] = {
        {{"--runtime", "lua", "run", "-e", "print('ran')"}, NULL, 126, "", "WSL"},
        {{"--runtime", "lua", "run", "-e", "print('ran')"}, NULL, 126, "", "sandbox.require = []"},
        {{"--config", settings, "--backend", "bwrap", "run", "-e", "print('ran')"},
         NULL,
         2,
         "",
         "not for windows"},
        {{"--config", settings, "--backend", "none", "run", "-e", "print('ran')"},
         NULL,
         2,
         "",
         "not for windows"},
        {{"--config", wrong, "run", "-e", "print('ran')"},
         NULL,
         2,
         "",
         "wrong.toml:2:1: session.timeuot: unknown key; did you mean session.timeout?"},
        {{"--config", none, "run", "-e", "print('ran')"}, NULL, 2, "", "none.toml"},
        {{"--quite", "run"}, NULL, 2, "", "did you mean --quiet?"},
    };

    ROWS_HOLD(rows);
}

static void it_tells_what_there_is(void)
{
    static const struct row rows[] = {
        {{"--version"}, NULL, 0, NULL, ""},
        {{"--config", settings, "config", "--check"}, NULL, 0, "", ""},
        {{"--config", wrong, "config", "--check"}, NULL, 2, NULL, "wrong.toml:2:1"},
        {{"--config", settings, "check", "-"}, "x = 1", 0, NULL, ""},
        {{"--config", settings, "check", "-"}, "x = (", 1, NULL, "syntax error"},
        {{"--config", settings, "plan"}, NULL, 0, NULL, ""},
        {{"--config", settings, "plugins", "windows-job"}, NULL, 0, NULL, ""},
        {{"--config", settings, "tools", "--format", "lua"}, NULL, 0, NULL, ""},
        {{"audit", "verify", log_file}, NULL, 0, NULL, ""},
    };
    static const struct {
        const char *words[COMMAND_WORDS], *part;
    } parts[] = {
        {{"--config", settings, "config"}, "sandbox.require = []"},
        {{"--config", settings, "plan"}, "fs_read    not limited"},
        {{"--config", settings, "plan"}, "SystemRoot="},
        {{"--config", settings, "plugins", "windows-job"}, "can enforce: cpu memory nproc"},
        {{"--config", settings, "tools"}, "greet(name)"},
        {{"audit", "verify", log_file}, "intact: "},
    };

    ROWS_HOLD(rows);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct answer answer = ask(parts[i].words, NULL);
        if (!strstr(laz_buf_text(&answer.out), parts[i].part)) {
            printf("\n    %s: not in: %s\n", parts[i].part, laz_buf_text(&answer.out));
            CU_FAIL("it does not tell");
        }
        answer_fini(&answer);
    }
}

/* Nothing isolates here, and doctor does not claim otherwise. */
static void doctor_promises_nothing(void)
{
    const char *const words[] = {"--config", settings,
                                 "--set",    "limits.memory=unlimited",
                                 "--set",    "limits.cpu=unlimited",
                                 "--set",    "limits.nproc=unlimited",
                                 "doctor",   NULL};
    struct answer answer = ask(words, NULL);

    CU_ASSERT_EQUAL(answer.status, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&answer.out), "network    not in force"));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&answer.out), "lua        works"));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&answer.out), "nothing was tried"));
    CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&answer.out), "network    in force"));
    answer_fini(&answer);
    const char *const plain[] = {"doctor", NULL};
    answer = ask(plain, NULL);
    CU_ASSERT_EQUAL(answer.status, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&answer.out), "problem: "));
    CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&answer.out), "all is well"));
    answer_fini(&answer);
}

static const struct unit_test tests[] = {
    UNIT(code_runs_with_tools_and_its_end_is_the_status),
    UNIT(what_is_missing_is_said_before_anything_runs),
    UNIT(it_tells_what_there_is),
    UNIT(doctor_promises_nothing),
    {0},
};

/* ---- what they need -------------------------------------------------------------------------- */

static bool make_files(void)
{
    char text[4096];

    snprintf(settings, sizeof settings, "%s/settings.toml", base);
    snprintf(wrong, sizeof wrong, "%s/wrong.toml", base);
    snprintf(none, sizeof none, "%s/none.toml", base);
    snprintf(log_file, sizeof log_file, "%s/log/audit.jsonl", base);
    snprintf(text, sizeof text,
             "[session]\nruntime = \"lua\"\n"
             "[sandbox]\nbackend = [\"windows-job\"]\nrequire = []\nstrict = false\n"
             "[audit]\nfile = \"%s\"\n[[tools]]\nprovider = \"command\"\n"
             "[[tools.tool]]\nname = \"greet\"\ndescription = \"greets\"\noutput = \"text\"\n"
             "command = [\"%s\", \"greet\", \"{name}\"]\n"
             "parameters = { name = { type = \"string\", required = true } }\n"
             "[[tools.tool]]\nname = \"fail\"\ndescription = \"fails\"\noutput = \"text\"\n"
             "command = [\"%s\", \"fail\", \"{name}\"]\n"
             "parameters = { name = { type = \"string\", required = true } }\n",
             log_file, program, program);
    return !laz_os_make_directory(base, 0700, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) &&
           !laz_os_write_file(settings, text, strlen(text), 0600, NULL) &&
           !laz_os_write_file(wrong, "[session]\ntimeuot = 3\n", 22, 0600, NULL);
}

int main(int argc, char **argv)
{
    wchar_t wide[MAX_PATH + 1];

    CHILD_MAIN(argc, argv);
    if (!GetModuleFileNameW(NULL, wide, MAX_PATH))
        return 99;
    char *text = laz_windows_slashes(laz_windows_narrow(wide));
    snprintf(program, sizeof program, "%s", text);
    *strrchr(text, '/') = '\0';
    snprintf(lazaret, sizeof lazaret, "%s/lazaret.exe", text);
    free(text);
    if (!GetTempPathW(MAX_PATH, wide))
        return 99;
    text = laz_windows_slashes(laz_windows_narrow(wide));
    snprintf(base, sizeof base, "%slaz-test-command-%lu", text, GetCurrentProcessId());
    free(text);
    if (!make_files())
        return 99;
    int status = unit_run("wine_command", tests);
    laz_os_remove_tree(base);
    return status;
}
