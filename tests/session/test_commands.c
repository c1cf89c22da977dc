/* SPDX-License-Identifier: MIT */
/* test_commands.c - tools as commands: what a command takes and gives, in pipes and side by side,
 * from programs of every language; calls that come too late, commands that are killed, answers that
 * nobody reads, and what is written where only commands write.
 *
 * The rules of a command line are in unit/test_command_arguments.c. */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A session of the shell; NULL: the runtime is not built. */
static struct laz_session *opened(const char *settings)
{
    struct laz_engine *engine = test_engine(settings);
    struct laz_session *session = test_session(engine, "shell");

    if (!session)
        laz_engine_free(engine);
    return session;
}

static void closed(struct laz_session *session)
{
    struct laz_engine *engine = test_engine_of(session);

    laz_session_free(session);
    laz_engine_free(engine);
}

/* What the code writes on standard output, a new string; NULL and a failed assertion where it does
 * not end well. */
static char *written(struct laz_session *session, const char *code)
{
    struct laz_result *result = test_run(session, code, NULL);
    char *out = NULL;

    if (!result)
        return NULL;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    if (laz_result_verdict(result) == LAZ_VERDICT_OK)
        out = test_output(result, 1);
    else
        printf("\n    %s: %s", code, laz_result_detail(result));
    laz_result_free(result);
    return out;
}

static void gives(struct laz_session *session, const char *code, const char *output)
{
    char *out = written(session, code);

    UNIT_TEXT(out, output);
    if (out && strcmp(out, output) != 0)
        printf("\n    %s", code);
    free(out);
}

struct row {
    const char *code, *output;
};

static void each_row(const struct row *rows, size_t n)
{
    struct laz_session *session = opened("");

    for (size_t i = 0; session && i < n; i++)
        gives(session, rows[i].code, rows[i].output);
    if (session)
        closed(session);
}

static void a_tool_is_a_command(void)
{
    static const struct row rows[] = {
        {"add 2 3; echo $?", "5\n0\n"},
        {"add --a 2 --b=.5", "2.5\n"},
        {"echo '{\"a\": 2, \"b\": 3}' | add -; add '{\"a\":1,\"b\":1}'", "5\n2\n"},
        {"x=$(add 2 3) && echo [$x]", "[5]\n"},
        {"echo_ text; echo_ '[1, {\"a\": null}]'", "text\n[1,{\"a\":null}]\n"},
        {"echo_ --pretty '[1, []]'", "[\n  1,\n  []\n]\n"},
        {"echo_ $'two\\nlines' | wc -l", "2\n"},
        {"echo_ | cat; add 2 2>&1; echo $?", "add: b is missing\nusage: add A B\n2\n"},
        {"add 2 x 2>&1 | head -1; add 2 3 4 2>/dev/null; echo $?",
         "add: b: 'x' is not a number\n2\n"},
        {"add --c 2 2>&1 | head -1; echo_ $'a\\xff' 2>&1 | head -1; echo ${PIPESTATUS[0]}",
         "add: there is no argument --c\necho_: x: the text is not UTF-8\n2\n"},
        {"fail 2>&1; echo $?", "fail: the tool is out of order\n1\n"},
        {"add --help | head -1; add --help | grep -c 'Adds two numbers'", "usage: add A B\n1\n"},
        {"echo plain; type -t echo; PATH=/usr/bin:/bin; add 1 2 2>/dev/null; echo $?",
         "plain\nbuiltin\n127\n"},
    };

    each_row(rows, sizeof rows / sizeof *rows);
}

static void commands_work_wherever_programs_do(void)
{
    static const struct row rows[] = {
        {"seq 30 | xargs -P 8 -n 1 add 1 | sort -n | tr '\\n' ' '",
         "2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 "},
        {"mkdir d; touch d/1 d/2; cd d; find . -type f -name '[0-9]' -exec sh -c 'add \"${0#./}\" "
         "1' "
         "{} \\; | sort",
         "2\n3\n"},
        {"add 1 2 | { read -r x; add \"$x\" 10; }", "13\n"},
        {"for i in 1 2 3; do add $i 1 >out$i & done; wait; cat out1 out2 out3", "2\n3\n4\n"},
        {"cd /; env -i /bin/sh -c \"$(command -v add) 1 1\"", "2\n"},
        {"cd \"${PATH%%:*}\" || exit; ./add 1 1; exec -a other ./add 1 1", "2\n2\n"},
        {"! command -v awk >/dev/null || awk 'BEGIN { system(\"add 20 22\") }' || true", "42\n"},
    };

    each_row(rows, sizeof rows / sizeof *rows);
}

/* As an object on standard input: a single argument of a program is 128 KiB at most. */
static void arguments_may_be_large(void)
{
#define LARGE(bytes)                                                                               \
    "{ printf '{\"x\":\"'; head -c " bytes " /dev/zero | tr '\\0' x; printf '\"}'; }"
    static const struct row rows[] = {
        {LARGE("1000000") " | echo_ - | wc -c", "1000001\n"},
        {LARGE("2000000") " | echo_ - 2>&1 | cut -c -60; echo ${PIPESTATUS[1]}",
         "echo_: the arguments (2000008 bytes) exceed max_message_size\n126\n"},
        {"for i in 1 2 3 4; do " LARGE("900000") " | echo_ - | wc -c & done | sort -u", "900001\n"},
        {"head -c 100 /dev/zero | echo_ - 2>&1 | head -1",
         "echo_: the arguments are not a JSON object\n"},
    };

    each_row(rows, sizeof rows / sizeof *rows);
}

static void programs_of_every_language_call_tools(void)
{
    static const struct phrase codes = {
        .python = "import subprocess\nsubprocess.run(['add', '20', '22'], capture_output=True, "
                  "text=True, close_fds=True, check=True).stdout",
        .r = "paste0(system2('add', c('20', '22'), stdout = TRUE), '\\n')",
        .lua = "local p = io.popen('add 20 22') local out = p:read('a') p:close() return out",
    };
    struct laz_engine *engine = test_engine("");

    for (size_t i = 0; i < n_languages; i++) {
        struct laz_session *session = test_session(engine, languages[i].runtime);
        const char *code = test_phrase(&languages[i], &codes);
        if (session && code)
            test_expect(session, code, LAZ_VERDICT_OK, "\"42\\n\"");
        laz_session_free(session);
    }
    laz_engine_free(engine);
}

/* Code that waits until no processes of its own are left that interpreters do not show. */
static void nothing_is_a_child_of_the_code(void)
{
    static const struct phrase codes = {
        .python = "import os\ntry: os.waitpid(-1, 0)\nexcept ChildProcessError: print('none')",
    };
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = test_session(engine, "python");

    if (session)
        gives(session, codes.python, "none\n");
    laz_session_free(session);
    laz_engine_free(engine);
}

static void a_session_without_tools_has_no_commands(void)
{
    struct laz_engine *engine;
    struct laz_settings *settings = test_settings("pool.warm=cold");
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_engine_new(settings, NULL, &engine, &err), 0);
    struct laz_session *session = test_session(engine, "shell");
    if (session)
        gives(session, "ls -A ~ | grep lazaret; echo $PATH", "/usr/local/bin:/usr/bin:/bin\n");
    laz_session_free(session);
    laz_engine_free(engine);
    laz_settings_free(settings);
}

/* ---- too late -------------------------------------------------------------------------------- */

/* A job calls until it is refused. Where it was not between two executions, it goes on in the next.
 */
static void calls_after_the_end_are_refused(void)
{
    struct laz_session *session = opened("");
    char *out = NULL;

    if (!session)
        return;
    gives(session,
          "{ while add 1 2 >/dev/null 2>why; s=$?; [ $s = 0 ]; do :; done; echo $s >status; } & "
          "echo started",
          "started\n");
    for (bool is_over = false; !is_over; free(out)) {
        usleep(20000);
        out = written(session, "cat status 2>/dev/null");
        is_over = !out || *out;
        if (is_over)
            UNIT_TEXT(out, "126\n");
    }
    out = written(session, "cat why; add 1 2");
    CU_ASSERT(out &&
              (strstr(out, "no code is executed") || strstr(out, "the execution has ended")));
    CU_ASSERT(out && strstr(out, "3\n"));
    free(out);
    closed(session);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void a_killed_command_leaves_nothing(void)
{
    static const struct row rows[] = {
        {"for i in 1 2 3 4 5 6 7 8 9 10; do slow 300 & kill -9 $!; slow 300 & sleep 0.0$i; kill -9 "
         "$!; done 2>/dev/null; wait; cd \"${PATH%%:*}/..\" || exit; echo $(ls -A); add 1 2",
         "bin calls tools\n3\n"},
    };

    each_row(rows, sizeof rows / sizeof *rows);
}

static void an_answer_that_nobody_reads_blocks_nobody(void)
{
    static const struct row rows[] = {
        {"for i in 1 2 3; do " LARGE("900000") " >in$i; echo_ - <in$i | sleep 1000 & done; "
                                               "for i in 1 2 3; do add $i 1; done; kill $(jobs "
                                               "-p); pkill sleep || kill -9 %1 %2 %3",
         "2\n3\n4\n"},
    };
    struct laz_session *session = opened("");

    if (!session)
        return;
    gives(session, rows[0].code, rows[0].output);
    gives(session, "add 1 2", "3\n");
    closed(session);
}

static void a_flood_is_served(void)
{
    static const struct row rows[] = {
        {"seq 300 | xargs -P 40 -n 1 add 1 | sort -n | tail -1", "301\n"},
    };

    each_row(rows, sizeof rows / sizeof *rows);
}

static void what_is_no_call_is_ignored(void)
{
    static const struct row rows[] = {
        {"cd \"${PATH%%:*}/..\" || exit; echo nonsense >calls; echo '1 0 1' >calls; echo \"$$ 0 "
         "1\" "
         ">calls; "
         "echo '99999999999999999999 3 4' >calls; echo '-1 3 4' >calls; head -c 3000 /dev/zero "
         ">calls; "
         "head -c 3000 /dev/zero | tr '\\0' 7 >calls; echo >calls; add 1 2",
         "3\n"},
        {"cd \"${PATH%%:*}/..\" || exit; { exec 5<>calls 6>&5; sh -c 'echo $$ 5 6' >calls; }; add "
         "1 2; "
         "exec "
         "5>&- 6>&-",
         "3\n"},
        /* pipes of one's own, and in them what no command writes */
        {"cd \"${PATH%%:*}/..\" || exit; mkfifo q a; exec 5<>q 6<>a; echo \"$$ 5 6\" >calls; "
         "echo '{\"type\":\"tool_call\",\"tool\":\"nosuch\",\"id\":77}' >&5; head -1 <&6; "
         "echo \"$$ 5 6\" >calls; echo '{\"type\":\"result\",\"id\":1,\"value\":1}' >&5; head -1 "
         "<&6; "
         "echo \"$$ 5 6\" >calls; echo 'x' >&5; head -1 <&6; rm q a; add 1 2",
         "{\"id\":3,\"error\":\"Unknown tool: nosuch\",\"kind\":\"unknown\"}\n"
         "{\"error\":\"message 'result' is not allowed now\",\"kind\":\"refused\"}\n"
         "{\"error\":\"not valid JSON: a number is not valid (byte 0)\",\"kind\":\"refused\"}\n"
         "3\n"},
        /* a line without its end */
        {"cd \"${PATH%%:*}/..\" || exit; printf '1 0' >calls; add 1 2", "3\n"},
        {"cd \"${PATH%%:*}\" || exit; ln -s add mine; ./mine 1 2 2>&1; echo $?; rm mine; ln -sf "
         "/dev/null "
         "../tools; ./add 1 2 2>&1; echo $?",
         "mine: there is no such tool\n127\nadd: there is no such tool\n127\n"},
    };

    each_row(rows, sizeof rows / sizeof *rows);
}

static void one(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_value(reply, "1", 1);
}

static void a_name_that_no_file_has_is_no_command(void)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = ".."};
    struct laz_engine *engine = test_engine("");

    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, one, NULL, NULL), 0);
    struct laz_session *session = engine ? test_session(engine, "shell") : NULL;
    if (session) {
        gives(session, "add 1 2", "3\n");
        closed(session);
    } else
        laz_engine_free(engine);
}

static void without_who_carries_them_calls_are_refused(void)
{
    struct laz_session *session = opened("");
    char *out;

    if (!session)
        return;
    /* Where a session sees no other processes it cannot tell which one to end. */
    out = written(session, "for p in /proc/[0-9]*; do grep -q carry $p/cmdline 2>/dev/null && "
                           "kill -9 ${p#/proc/} && echo killed; done");
    if (out && strcmp(out, "killed\n") == 0) {
        gives(session, "add 1 2 2>&1; echo $?",
              "add: tools cannot be called: the process that carries the calls has ended\n126\n");
        gives(session, "slow 1 2>/dev/null; echo $?", "126\n");
    }
    free(out);
    closed(session);
}

static void an_interrupt_reaches_commands(void)
{
    const struct laz_execute_options options = {.size = sizeof options, .timeout_ms = 300};
    struct laz_session *session = opened("session.interrupt_grace=60s");

    if (!session)
        return;
    /* a call stops the clock of the code, so something else has to run */
    struct laz_result *result = test_run(session, "while :; do add 1 2 >/dev/null; done", &options);
    if (result)
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_TIMEOUT);
    laz_result_free(result);
    gives(session, "add 1 2", "3\n");
    closed(session);
}

static const struct unit_test tests[] = {
    UNIT(a_tool_is_a_command),
    UNIT(commands_work_wherever_programs_do),
    UNIT(arguments_may_be_large),
    UNIT(programs_of_every_language_call_tools),
    UNIT(nothing_is_a_child_of_the_code),
    UNIT(a_session_without_tools_has_no_commands),
    UNIT(calls_after_the_end_are_refused),
    UNIT(a_killed_command_leaves_nothing),
    UNIT(an_answer_that_nobody_reads_blocks_nobody),
    UNIT(a_flood_is_served),
    UNIT(what_is_no_call_is_ignored),
    UNIT(a_name_that_no_file_has_is_no_command),
    UNIT(without_who_carries_them_calls_are_refused),
    UNIT(an_interrupt_reaches_commands),
    {0},
};

int main(void)
{
    return unit_run("commands", tests);
}
