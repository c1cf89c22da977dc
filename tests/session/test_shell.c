/* SPDX-License-Identifier: MIT */
/* test_shell.c - sessions of the runtime shell: what is kept from one execution to the next, what
 * ends a shell and what interrupts it, background jobs, and the programs that it may start.
 *
 * The rules of a shell alone are in contract/cases/shell.cases, files in session/scripts/shell. */
#include "live.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A session of an engine with these settings; NULL: the runtime is not built. */
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

/* Code ends with this status, which is ok, and writes this. */
static void gives(struct laz_session *session, const char *code, int status, const char *output)
{
    struct laz_result *result = test_run(session, code, NULL);
    char value[16];

    snprintf(value, sizeof value, "%d", status);
    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(laz_result_value(result), value);
    CU_ASSERT_EQUAL(laz_result_exit_status(result), status);
    CU_ASSERT_PTR_NULL(laz_result_text(result));
    char *out = test_output(result, 1);
    UNIT_TEXT(out, output);
    free(out);
    laz_result_free(result);
}

/* The same, and the code reads this. */
static void reads(struct laz_session *session, const char *code, const char *input,
                  const char *output)
{
    const struct laz_file file = {sizeof file, "typed", input, strlen(input)}, *files = &file;
    struct laz_execute_options options = LAZ_EXECUTE_OPTIONS_INIT;

    options.files = &files;
    options.n_files = 1;
    options.input = file.name;
    struct laz_result *result = test_run(session, code, &options);
    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    char *out = test_output(result, 1);
    UNIT_TEXT(out, output);
    free(out);
    laz_result_free(result);
}

/* What ended the shell before this one; NULL: nothing. */
static void was_replaced(struct laz_session *session, const char *by)
{
    struct laz_result *result = test_run(session, "echo ${x-new}", NULL);

    if (!result)
        return;
    UNIT_TEXT(laz_result_replaced(result), by);
    char *out = test_output(result, 1);
    UNIT_TEXT(out, by ? "new\n" : "kept\n");
    free(out);
    laz_result_free(result);
}

static void a_session_keeps_its_shell(void)
{
    struct laz_session *session = opened("");

    if (!session)
        return;
    gives(session, "x=kept; mkdir d && cd d; f() { echo \"f $1\"; return 4; }; echo $$ >../pid", 0,
          "");
    gives(session, "f ${PWD##*/}", 4, "f d\n");
    gives(session, "set -e; false; echo not here", 1, "");
    gives(session, "set +e; set -u; echo $nothing", 1, "");
    gives(session, "set +u; if then", 2, "");
    gives(session, "[ $(cat ../pid) = $$ ] && echo $PPID $x $TERM $PAGER $SHLVL | cut -d' ' -f2-",
          0, "kept dumb cat 1\n");
    was_replaced(session, NULL);
    closed(session);
}

static void a_shell_that_ends_is_replaced(void)
{
    static const struct {
        const char *code, *output;
        int status;
    } rows[] = {
        {"trap 'echo bye $?' EXIT; exit 3", "bye 3\n", 3},
        {"exit", "", 0},
        {"exec sh -c 'echo in its place; exit 255'", "in its place\n", 255},
        {"exec nosuchprogram", "", 127},
        {"kill -9 $$", "", 137},
        {"trap 'echo bye' EXIT; kill $$", "bye\n", 143},
    };
    struct laz_session *session = opened("");

    if (!session)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gives(session, "x=kept", 0, "");
        gives(session, rows[i].code, rows[i].status, rows[i].output);
        was_replaced(session, "ok");
    }
    closed(session);
}

static void a_shell_that_ends_while_it_waits_is_replaced(void)
{
    struct laz_session *session = opened("");

    if (!session)
        return;
    struct laz_result *result = test_run(session, "x=kept; (sleep 0.1; kill -9 $$) &", NULL);
    while (laz_result_is_kept(result) && laz_session_is_alive(session))
        usleep(1000);
    laz_result_free(result);
    result = test_run(session, "echo ${x-new}", NULL);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT_PTR_NOT_NULL(laz_result_replaced(result));
    laz_result_free(result);
    closed(session);
}

/* ---- interrupts -------------------------------------------------------------------------------
 */

/* Each prints a line and goes on for ever. */
static const char *const endless[] = {
    "echo go; while :; do :; done",
    "echo go; sleep 3000; echo not here",
    "echo go; sleep 3000 | cat; echo not here",
    "f() { local y; while true; do sleep 3000; done; }; echo go; f; echo not here",
    "echo go; y=$(sleep 3000); echo not here",
    "echo go; (while :; do :; done); echo not here",
    "echo go; read y < <(sleep 3000); echo not here",
    "echo go; eval 'sleep 3000; echo not here'; echo not here",
    "sleep 3000 & echo go; wait; echo not here",
    "trap 'echo not here' INT; trap - INT; echo go; sleep 3000; echo not here",
    "set -m; echo go; sleep 3000; echo not here",
    "set +m; echo go; seq 2 | xargs -n1 sleep 3000; echo not here",
    "echo go; python3 -c 'import time; time.sleep(3000)' 2>/dev/null; echo not here",
    "for i in 1 2 3; do bash -c 'echo go; exec sleep 3000'; done; echo not here",
};

struct first_line {
    struct laz_session *session;
    unsigned lines;
};

static void interrupts(void *user, int stream, const char *text, size_t len)
{
    struct first_line *first = user;

    (void)stream, (void)text, (void)len;
    if (!first->lines++)
        CU_ASSERT_EQUAL(laz_session_interrupt(first->session), 0);
}

/* Executes code that is interrupted after the first line of its output. */
static struct laz_result *interrupted(struct laz_session *session, const char *code)
{
    struct first_line first = {.session = session};
    const struct laz_execute_options options = {
        .size = sizeof options, .line = interrupts, .user = &first};
    struct laz_result *result = test_run(session, code, &options);

    if (!laz_result_is_kept(result))
        printf("\n    %s: %s", code, laz_result_json(result));
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CANCELLED);
    CU_ASSERT_TRUE(laz_result_is_kept(result));
    return result;
}

static void an_interrupt_leaves_the_shell_as_it_is(void)
{
    struct laz_session *session = opened("session.interrupt_grace=60");

    if (!session)
        return;
    gives(session, "x=kept", 0, "");
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        struct laz_result *result = interrupted(session, endless[i]);
        char *out = test_output(result, 1);
        UNIT_TEXT(out, "go\n");
        if (strcmp(out, "go\n") != 0)
            printf("    %s\n", endless[i]);
        free(out);
        laz_result_free(result);
        was_replaced(session, NULL);
    }
    closed(session);
}

static void a_trap_for_an_interrupt_runs(void)
{
    struct laz_session *session = opened("session.interrupt_grace=60");

    if (!session)
        return;
    gives(session, "x=kept", 0, "");
    struct laz_result *result = interrupted(
        session, "trap 'echo caught; over=yes' INT; echo go; until [ $over ]; do sleep 0.01; done; "
                 "trap - INT; echo after");
    char *out = test_output(result, 1);
    UNIT_TEXT(out, "go\ncaught\nafter\n");
    free(out);
    laz_result_free(result);
    was_replaced(session, NULL);
    closed(session);
}

static void background_jobs_go_on(void)
{
    struct laz_session *session = opened("session.interrupt_grace=60");

    if (!session)
        return;
    /* they have begun, and have what a shell gives them against SIGINT */
    gives(session,
          "x=kept; mkfifo f up on; (echo up >up; read y <f; echo got $y) & read y <up; "
          "(trap '' INT; echo on >on; exec sleep 3000) & read y <on",
          0, "");
    laz_result_free(interrupted(session, "echo go; sleep 3000"));
    gives(session, "jobs | sed 's/  */ /g'", 0,
          "[1]- Running ( echo up > up; read y < f; echo got $y ) &\n"
          "[2]+ Running ( trap '' INT; echo on > on; exec sleep 3000 ) &\n");
    gives(session, "echo word >f; wait %1; kill %2; wait", 0, "got word\n");
    was_replaced(session, NULL);
    closed(session);
}

static void output_between_executions_belongs_to_the_next(void)
{
    struct laz_session *session = opened("");

    if (!session)
        return;
    gives(session, "mkfifo f g; { read y <f; echo between; echo done >g; } &", 0, "");
    gives(session, "echo go >f; read y <g; wait; echo $y", 0, "between\ndone\n");
    closed(session);
}

/* ---- executions of their own ------------------------------------------------------------------
 */

static void an_execution_of_its_own_is_a_whole_run_of_bash(void)
{
    static const struct {
        const char *code, *output;
        int status;
    } rows[] = {
        {"trap 'echo bye; exit 9' EXIT; (exit 5)", "bye\n", 9},
        {"set -e; false; echo not here", "", 1},
        {"echo a; exit 200", "a\n", 200},
        {"sleep 3000 & echo done", "done\n", 0},
        {"exec sh -c 'exit 6'", "", 6},
    };
    struct laz_engine *engine = test_engine("");
    const char *warm = getenv("TEST_WARM");
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = "shell", .warm = warm && strcmp(warm, "template") == 0};
    struct laz_session *session = test_session(engine, "shell");

    for (size_t i = 0; session && i < sizeof rows / sizeof *rows; i++) {
        struct laz_result *result = NULL;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL_FATAL(
            laz_execute(engine, &options, rows[i].code, SIZE_MAX, NULL, &result, &err), 0);
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
        CU_ASSERT_EQUAL(laz_result_exit_status(result), rows[i].status);
        char *out = test_output(result, 1);
        UNIT_TEXT(out, rows[i].output);
        free(out);
        laz_result_free(result);
    }
    laz_engine_free(engine);
}

/* ---- programs ---------------------------------------------------------------------------------
 */

static void any_program_that_is_seen_can_be_started(void)
{
    struct laz_session *session = opened("");

    if (!session)
        return;
    gives(session,
          "cp /usr/bin/expr mine && ./mine 40 + 2; cp mine $TMPDIR/too && $TMPDIR/too 1 + 1", 0,
          "42\n2\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_session_isolation(session), "\"programs\":\"any\""));
    closed(session);
}

static void a_list_without_bash_is_told(void)
{
    struct laz_session *session = opened("sandbox.programs=[\"expr\"]");

    if (!session)
        return;
    test_expect_error(session, "echo here", LAZ_VERDICT_ERROR, "sandbox.programs");
    closed(session);
    session = opened("sandbox.programs=[\"bash\", \"expr\"]");
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_session_isolation(session), "\"programs\":\"listed\""));
    gives(session, "expr 40 + 2", 0, "42\n");
    gives(session, "date 2>/dev/null || echo refused", 0, "refused\n");
    closed(session);
}

static void an_execution_can_have_an_input(void)
{
    struct laz_session *session = opened("");

    if (!session)
        return;
    reads(session, "read x; cat", "1\n2\n3\n", "2\n3\n"); /* it starts the shell */
    gives(session, "cat; read y || echo \"$x\"", 0, "1\n");
    gives(session, "echo more >more; exec <more; read a <<<b; cd /", 0, "");
    reads(session, "sed s/^/:/", "4\n", ":4\n");
    reads(session, "read x; exec <&-; rm $OLDPWD/typed; x=kept", "5\n6\n", "");
    gives(session, "cat", 0, "more\n");
    gives(session, "exec <&-", 0, "");
    reads(session, "cat", "7\n", "7\n");
    gives(session, "[ -e /proc/$$/fd/0 ]", 1, "");
    was_replaced(session, NULL);
    closed(session);
}

static void a_check_runs_nothing(void)
{
    struct laz_session *session = opened("");
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    if (!session)
        return;
    CU_ASSERT_EQUAL(laz_session_check(session, "echo no\nif true; then", SIZE_MAX, &result, &err),
                    0);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_SYNTAX_ERROR);
    CU_ASSERT_EQUAL(laz_result_error_line(result), 3);
    laz_result_free(result);
    CU_ASSERT_EQUAL(laz_session_check(session, "echo no; exit 3", SIZE_MAX, &result, &err), 0);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT_EQUAL(laz_result_exit_status(result), 0);
    CU_ASSERT_EQUAL(laz_result_outputs(result), 0);
    laz_result_free(result);
    closed(session);
}

static const struct unit_test tests[] = {
    UNIT(a_session_keeps_its_shell),
    UNIT(a_shell_that_ends_is_replaced),
    UNIT(a_shell_that_ends_while_it_waits_is_replaced),
    UNIT(an_interrupt_leaves_the_shell_as_it_is),
    UNIT(a_trap_for_an_interrupt_runs),
    UNIT(background_jobs_go_on),
    UNIT(output_between_executions_belongs_to_the_next),
    UNIT(an_execution_of_its_own_is_a_whole_run_of_bash),
    UNIT(any_program_that_is_seen_can_be_started),
    UNIT(a_list_without_bash_is_told),
    UNIT(an_execution_can_have_an_input),
    UNIT(a_check_runs_nothing),
    {0},
};

int main(void)
{
    return unit_run("shell", tests);
}
