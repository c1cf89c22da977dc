/* SPDX-License-Identifier: MIT */
/* test_start.c - failures between the spawn of an agent and its `ready`, and connections by other
 * processes: each gives the verdict setup_failed with the reason, and leaves nothing behind.
 *
 * The agent is the mock of tests/mock/agent.c, in a real box; its start is a script. The clock of
 * the engine is held, so that only the steps of a test end a start, however slow the machine is. */
#include "live.h"
#include "traces.h"

#include "base/buf.h"
#include "session/session.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READY "{\"type\":\"ready\",\"protocol\":1}"

static struct laz_engine *start_engine(const char *script, const char *settings)
{
    char *text =
        laz_strdupf("env.set={MOCK_START='%s'}%s%s", script, *settings ? ";" : "", settings);
    struct laz_engine *engine = test_engine(text);

    if (engine)
        test_hold_clock(engine);
    free(text);
    return engine;
}

/* ---- starts whose clock moves --------------------------------------------------------------- */

/* A running start, and how the clock moves: by one step each time the agent prints something (it
 * then continues, unless that was the last step), or by one step when it has hung up. The clock
 * moves between two turns of the loop, because the execution begins in the first one and restarts
 * the start's timeout. */
static struct course {
    struct laz_session *session;
    struct laz_box_owner owner; /* of its box */
    const uint64_t *ms;
    size_t n, steps, printed;
    struct laz_result *result;
} course;

static bool course_output(void *user, int stream, const char *data, size_t len)
{
    course.printed += stream == LAZ_STDOUT;
    return course.owner.output(user, stream, data, len);
}

static void course_move(bool hangs_up)
{
    const struct laz_box *box = course.session->box;
    bool due = hangs_up ? box && laz_box_has_hung_up(box) : course.printed > course.steps;

    if (!due || course.steps == course.n)
        return;
    CU_ASSERT_TRUE(course.session->start.under_way);
    CU_ASSERT_EQUAL(course.session->failure.code, 0); /* not before its time */
    test_advance_clock(test_engine_of(course.session), course.ms[course.steps++]);
    if (course.steps < course.n)
        CU_ASSERT_EQUAL(kill((pid_t)box->agent_pid, SIGUSR1), 0);
}

static void course_ends(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)user, (void)err;
    course.result = result;
}

/* The outcome of the first execution of a starting session. */
static int course_run(struct laz_engine *engine, const uint64_t *ms, size_t n, bool hangs_up,
                      struct laz_error *err)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua", .no_wait = 1};
    struct laz_session *session;

    int rc = laz_session_open(engine, &options, &session, err);
    if (rc)
        return rc;
    course = (struct course){.session = session, .owner = session->box->owner, .ms = ms, .n = n};
    session->box->owner.output = course_output;
    rc = laz_session_execute_async(session, "ok 1", SIZE_MAX, NULL, course_ends, NULL, err);
    while (!rc && !course.result) {
        rc = laz_engine_step(engine, -1, err);
        if (!rc && !course.result)
            course_move(hangs_up);
    }
    CU_ASSERT_EQUAL(course.steps, n);
    laz_session_free(session);
    return rc;
}

struct failing {
    const char *script, *settings, *part;
    const uint64_t *ms; /* steps of the clock; NULL: none */
    size_t n;
    bool hangs_up; /* that is when the clock moves */
};

/* A failing start: checks its message, and that nothing of it is left. */
static void start_fails_as(const struct failing *f)
{
    int descriptors = trace_descriptors(), threads = trace_threads();
    struct laz_engine *engine = start_engine(f->script, f->settings);
    struct laz_error err = {0};
    char directory[300];

    if (!engine)
        return;
    trace_directory(directory, sizeof directory);
    int rc = course_run(engine, f->ms, f->n, f->hangs_up, &err);
    if (rc == LAZ_ENOENT) {
        unit_skip("lua", err.text);
        laz_engine_free(engine);
        return;
    }
    CU_ASSERT_EQUAL(rc, 0);
    struct laz_result *result = course.result;
    const char *words = result ? laz_result_error(result) : err.text;
    if (!words || !strstr(words, f->part))
        printf("\n    %s\n    says:  %s\n    lacks: %s", f->script, words ? words : "(nothing)",
               f->part);
    CU_ASSERT(words && strstr(words, f->part));
    CU_ASSERT(result && laz_result_verdict(result) == LAZ_VERDICT_SETUP_FAILED);
    laz_result_free(result);
    laz_engine_free(engine);
    CU_ASSERT_NOT_EQUAL(access(directory, F_OK), 0);
    CU_ASSERT_EQUAL(trace_children(), 0);
    CU_ASSERT_EQUAL(trace_threads(), threads);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
}

static void start_fails(const char *script, const char *settings, const char *part)
{
    const struct failing failing = {script, settings, part, NULL, 0, false};

    start_fails_as(&failing);
}

/* ---- the start ------------------------------------------------------------------------------ */

static void a_good_start_is_no_failure(void)
{
    struct laz_engine *engine = start_engine("connect|token|recv|ready", "");
    struct laz_session *session = test_session(engine, "lua");

    if (session)
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    laz_engine_free(engine);
}

static void only_the_token_opens_the_door(void)
{
    static const char *const scripts[] = {
        "connect|send abcdefghijklmnopqrstuvwxyz012345|eof", /* of the right length */
        "connect|send a|eof",
        "connect|send $tokenx|eof",
        "connect|send x$token|eof",
        "connect|raw \\n|eof",
        "connect|raw \\x00\\xff\\x01 garbage\\n|eof",
        "connect|raw $token\\x00\\n|eof",
        "connect|raw $token\\r\\n|eof",
        "connect|send " READY "|eof",
        "connect|fill 33|eof", /* even without the end of a line */
        "connect|fill 10000000|eof",
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        start_fails(scripts[i], "", "the session did not start: a wrong token was shown");
}

static void a_silent_peer_is_given_five_seconds(void)
{
    static const uint64_t ms[] = {4999, 1};
    static const struct failing silent = {"connect|raw half a token|sync|print .|await|print .|eof",
                                          "session.start_timeout=20",
                                          "no token was shown within 5 seconds",
                                          ms,
                                          2,
                                          false};

    start_fails_as(&silent);
}

/* A machine with slow starts is also slow to send the token. */
static void a_long_start_timeout_gives_a_quarter_of_it_to_the_token(void)
{
    static const uint64_t ms[] = {9999, 1};
    static const struct failing silent = {"connect|raw half a token|sync|print .|await|print .|eof",
                                          "session.start_timeout=40",
                                          "no token was shown within 10 seconds",
                                          ms,
                                          2,
                                          false};

    start_fails_as(&silent);
}

/* A message after the token, whose first part comes in time. */
static void ready_that_was_begun_is_finished_in_time(void)
{
    static const uint64_t ms[] = {4999, 1};
    static const struct failing begun = {
        "connect|token|recv|raw {\"type\":|sync|print .|await|print .|eof",
        "",
        "a message was begun and not finished within 5 seconds",
        ms,
        2,
        false};

    start_fails_as(&begun);
}

static void a_second_peer_ends_the_start(void)
{
    start_fails("connect|connect|eof", "",
                "a second peer connected before the first showed its token");
}

static void an_agent_that_ends_is_told_with_its_words(void)
{
    start_fails("exit 0", "", "the process ended with status 0 and said nothing");
    start_fails("exit 7", "", "the process ended with status 7 and said nothing");
    start_fails("complain the library is missing|exit 7", "", "the library is missing (status 7)");
    start_fails("connect|token|recv|exit 9", "",
                "the process ended with status 9 and said nothing");
    start_fails("connect|token|recv|complain no such symbol|exit 9", "",
                "no such symbol (status 9)");
    start_fails("connect|token|recv|die 9", "", "137");
}

static void an_agent_that_stays_without_its_connection_is_ended(void)
{
    static const char *const scripts[] = {"connect|token|recv|hangup|wait",
                                          "connect|token|recv|shut|wait"};
    static const uint64_t ms[] = {10000};

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const struct failing stays = {
            scripts[i], "", "the agent closed its connection and did not end", ms, 1, true};
        start_fails_as(&stays);
    }
}

static void an_agent_that_is_never_ready_is_not_awaited_for_ever(void)
{
    static const char *const scripts[] = {
        "connect|token|recv|print .|await|print .|eof",
        "connect|token|recv|raw {\"type\":|sync|print .|await|print .|eof",
    };
    static const uint64_t ms[] = {299, 1};

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const struct failing silent = {scripts[i],
                                       "session.start_timeout=0.3",
                                       "not ready within start_timeout (0.3 s)",
                                       ms,
                                       2,
                                       false};
        start_fails_as(&silent);
    }
    static const uint64_t all = 300;
    const struct failing absent = {"print .|wait",
                                   "session.start_timeout=0.3",
                                   "not ready within start_timeout (0.3 s)",
                                   &all,
                                   1,
                                   false};
    start_fails_as(&absent);
}

static void the_first_message_is_ready_or_an_error(void)
{
    static const struct {
        const char *script, *part;
    } rows[] = {
        {"send {\"type\":\"ready\",\"protocol\":2}", "the agent speaks protocol 2, this lazaret 1"},
        {"send {\"type\":\"ready\"}", "message 'ready' lacks 'protocol'"},
        {"send {\"type\":\"error\",\"kind\":\"setup\",\"message\":\"no such runtime\"}",
         "the session did not start: no such runtime"},
        {"send {\"type\":\"error\",\"kind\":\"setup\"}", "the session did not start: no reason"},
        {"raw " READY "\\n" READY "\\n", "message 'ready' is not allowed now"},
        {"raw " READY "\\n{\"type\":", "sent data without a request"},
        {"raw " READY "\\n{\"type\":\"tool_call\",\"tool\":\"add\"}\\n",
         "message 'tool_call' is not allowed now"},
        {"send {\"type\":\"tool_call\",\"id\":1,\"tool\":\"add\",\"args\":{\"a\":1,\"b\":2}}",
         "message 'tool_call' is not allowed now"},
        {"send {\"type\":\"result\",\"id\":1,\"value\":1}", "message 'result' is not allowed now"},
        {"send {\"type\":\"init\",\"protocol\":1}", "unknown message 'init'"},
        {"send hello", "not valid JSON"},
        {"raw \\n", "not valid JSON"},
        {"fill 1048577", "a message is larger than max_message_size (1048576 bytes)"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *script = laz_strdupf("connect|token|recv|%s|eof", rows[i].script);
        start_fails(script, "", rows[i].part);
        free(script);
    }
}

/* Time in which the application does not drive the loop does not count against the start of a
 * session's new box. */
static void a_replaced_box_may_wait_for_the_application(void)
{
    struct laz_engine *engine = start_engine("connect|token|recv|ready", "");
    struct laz_session *session = test_session(engine, "lua");
    struct test_advance advance = {engine, 1000, 0};
    const struct laz_execute_options options = {
        .size = sizeof options, .timeout_ms = 1000, .line = test_line_advances, .user = &advance};

    if (session) {
        test_expect_with(session, "print .\nwait", &options, LAZ_VERDICT_TIMEOUT, NULL);
        test_advance_clock(engine, 5500); /* longer than a token may take */
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    }
    laz_engine_free(engine);
}

/* ---- strangers ------------------------------------------------------------------------------ */

#define SAME_UID ((uid_t)-2) /* the uid of the session */

/* Connects to the first socket below the engine's directory, as `uid`, and waits until the
 * connection is closed. */
static void stranger(const char *directory, uid_t uid)
{
    struct timespec moment = {0, 1000000};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    char pattern[400], byte;
    glob_t found = {0};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    alarm(600); /* in case it is not closed */
    snprintf(pattern, sizeof pattern, "%s/b*/socket/ipc.sock", directory);
    while (glob(pattern, 0, NULL, &found) != 0)
        nanosleep(&moment, NULL);
    /* the owner of the directory identifies the session, because the socket gets its owner only
     * after it is bound */
    snprintf(address.sun_path, sizeof address.sun_path, "%s", found.gl_pathv[0]);
    *strrchr(address.sun_path, '/') = '\0';
    if (stat(address.sun_path, &st))
        _exit(2);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", found.gl_pathv[0]);
    if (uid == SAME_UID)
        uid = st.st_uid;
    if (uid != getuid() && (setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
        _exit(3);
    while (connect(fd, (struct sockaddr *)&address, sizeof address)) {
        if (errno != ECONNREFUSED && errno != EACCES) /* not yet listening, or not accessible */
            _exit(4);
        nanosleep(&moment, NULL);
    }
    _exit(read(fd, &byte, 1) <= 0 ? 0 : 5);
}

static void stranger_is_refused(uid_t uid, const char *part)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_engine *engine = start_engine("wait", "");
    struct laz_session *session = NULL;
    struct laz_error err = {0};
    char directory[300];
    int how = -1;

    if (!engine)
        return;
    trace_directory(directory, sizeof directory);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        stranger(directory, uid);
    int rc = laz_session_open(engine, &options, &session, &err);
    CU_ASSERT_EQUAL(rc, LAZ_ESETUP);
    if (!strstr(err.text, part))
        printf("\n    says:  %s\n    lacks: %s", err.text, part);
    CU_ASSERT(strstr(err.text, part) != NULL);
    waitpid(pid, &how, 0);
    CU_ASSERT(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    laz_engine_free(engine);
}

static void a_process_outside_of_the_box_is_refused(void)
{
    stranger_is_refused(SAME_UID, "a process that is not in the box connected");
}

static void a_process_of_another_uid_is_refused(void)
{
    if (geteuid() != 0) {
        unit_skip("root", "only root has sessions of other uids");
        return;
    }
    stranger_is_refused(0, "a process of uid 0 connected");
}

static const struct unit_test tests[] = {
    UNIT(a_good_start_is_no_failure),
    UNIT(only_the_token_opens_the_door),
    UNIT(a_silent_peer_is_given_five_seconds),
    UNIT(a_long_start_timeout_gives_a_quarter_of_it_to_the_token),
    UNIT(ready_that_was_begun_is_finished_in_time),
    UNIT(a_second_peer_ends_the_start),
    UNIT(an_agent_that_ends_is_told_with_its_words),
    UNIT(an_agent_that_stays_without_its_connection_is_ended),
    UNIT(an_agent_that_is_never_ready_is_not_awaited_for_ever),
    UNIT(the_first_message_is_ready_or_an_error),
    UNIT(a_replaced_box_may_wait_for_the_application),
    UNIT(a_process_outside_of_the_box_is_refused),
    UNIT(a_process_of_another_uid_is_refused),
    {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("start", tests);
}
