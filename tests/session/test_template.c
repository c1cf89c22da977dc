/* SPDX-License-Identifier: MIT */
/* test_template.c - sessions from a template, and templates that break the rules.
 *
 * The agent is the mock of tests/mock/agent.c, in a real box: its template makes real namespaces,
 * or something else where a test wants the host to notice. The clock of the engine is held. */
#include "live.h"
#include "traces.h"

#include "base/buf.h"
#include "session/session.h"
#include "box/templates.h"
#include "engine/engine.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define READY "send {\"type\":\"ready\",\"protocol\":1,\"confined\":[\"landlock\",\"filter\"]}"
#define WARM  "network namespace of the template"

static struct laz_session_options warm_options(void)
{
    return (struct laz_session_options){
        .size = sizeof(struct laz_session_options), .runtime = "lua", .warm = 1};
}

/* `scripts`: NAME='...' separated by commas. */
static struct laz_engine *template_engine(const char *scripts, const char *settings)
{
    char *text = laz_strdupf("env.set={%s}%s%s", scripts, *settings ? ";" : "", settings);
    struct laz_engine *engine = test_engine(text);

    if (engine)
        test_hold_clock(engine);
    free(text);
    return engine;
}

static struct laz_session *warm_session(struct laz_engine *engine)
{
    struct laz_session_options options = warm_options();
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    int rc = laz_session_open(engine, &options, &session, &err);
    if (rc)
        printf("\n    no session: %s", err.text);
    CU_ASSERT_EQUAL(rc, 0);
    return session;
}

/* Says when the clock moves while a session starts. */
typedef bool warm_moment(const struct laz_template *template);

static bool template_is_there(const struct laz_template *template)
{
    return template->box && laz_box_was_authenticated(template->box);
}

static bool template_has_hung_up(const struct laz_template *template)
{
    return template->box && laz_box_has_hung_up(template->box);
}

/* What the template itself says has been read, so that only its session can be late. */
static bool trial_speaks(const struct laz_template *template)
{
    return template->trial && !template->n_spawns && laz_frame_partial(&template->trial->in);
}

static bool session_is_asked_for(const struct laz_template *template)
{
    return template->state == TEMPLATE_READY && template->n_spawns;
}

static void start_ends(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)err;
    *(struct laz_result **)user = result;
}

/* Starts a session, moves the clock by `ms` when `reached` says so, and drives the loop until the
 * start has failed. */
static int start_run(struct laz_engine *engine, warm_moment *reached, uint64_t ms,
                     struct laz_error *err)
{
    struct laz_session_options options = warm_options();
    struct laz_result *result = NULL;
    struct laz_session *session;
    bool moved = false;

    options.no_wait = 1;
    int rc = laz_session_open(engine, &options, &session, err);
    if (rc)
        return rc;
    rc = laz_session_execute_async(session, "ok 1", SIZE_MAX, NULL, start_ends, &result, err);
    while (!rc && !result) {
        if (!moved && engine->boxes.templates->all && reached(engine->boxes.templates->all)) {
            test_advance_clock(engine, ms);
            moved = true;
        }
        rc = laz_engine_step(engine, -1, err);
    }
    if (result && laz_result_verdict(result) == LAZ_VERDICT_SETUP_FAILED)
        rc = laz_error_set(err, LAZ_ESETUP, 0, "%s", laz_result_error(result));
    CU_ASSERT_TRUE(moved);
    laz_result_free(result);
    laz_session_free(session);
    return rc;
}

/* A failing start: checks its message, and that nothing of the engine is left. */
static void warm_fails_at(const char *scripts, const char *settings, int code, const char *part,
                          warm_moment *reached, uint64_t ms)
{
    int descriptors = trace_descriptors(), threads = trace_threads();
    struct laz_engine *engine = template_engine(scripts, settings);
    struct laz_session_options options = warm_options();
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    if (!engine)
        return;
    int rc = reached ? start_run(engine, reached, ms, &err)
                     : laz_session_open(engine, &options, &session, &err);
    if (rc != code || !strstr(err.text, part))
        printf("\n    %s\n    says:  %d %s\n    lacks: %s", scripts, rc, err.text, part);
    CU_ASSERT_EQUAL(rc, code);
    CU_ASSERT(strstr(err.text, part) != NULL);
    laz_session_free(session);
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(trace_children(), 0);
    CU_ASSERT_EQUAL(trace_threads(), threads);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
}

static void warm_fails(const char *scripts, const char *settings, int code, const char *part)
{
    warm_fails_at(scripts, settings, code, part, NULL, 0);
}

static bool is_warm(const struct laz_session *session)
{
    return session && strstr(laz_session_isolation(session), WARM);
}

/* ---- as it should be ------------------------------------------------------------------------ */

static void a_session_comes_from_a_template(void)
{
    int descriptors = trace_descriptors(), threads = trace_threads();
    struct laz_engine *engine = template_engine("A='b'", "pool.warm=template");
    struct laz_session *session = warm_session(engine);
    char directory[300];

    trace_directory(directory, sizeof directory);
    if (session) {
        CU_ASSERT(is_warm(session));
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
        test_expect(session, "ok 43", LAZ_VERDICT_OK, "43");
        CU_ASSERT(laz_session_pid(session) > 0);
        CU_ASSERT_EQUAL(kill((pid_t)laz_session_pid(session), 0), 0);
        laz_session_free(session);
    }
    laz_engine_free(engine);
    CU_ASSERT_NOT_EQUAL(access(directory, F_OK), 0);
    CU_ASSERT_EQUAL(trace_children(), 0);
    CU_ASSERT_EQUAL(trace_threads(), threads);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
}

static void a_session_that_does_not_ask_is_cold(void)
{
    struct laz_engine *engine = template_engine("A='b'", "pool.warm=template");
    struct laz_session *session = test_session(engine, "lua");

    CU_ASSERT(session && !is_warm(session));
    laz_engine_free(engine);
}

/* Runs endless code and ends it by moving the clock. */
static void times_out(struct laz_session *session)
{
    struct test_advance advance = {test_engine_of(session), 1000, 0};
    const struct laz_execute_options options = {
        .size = sizeof options, .timeout_ms = 1000, .line = test_line_advances, .user = &advance};

    test_expect_with(session, "print .\nwait", &options, LAZ_VERDICT_TIMEOUT, NULL);
}

static void how_a_session_ended_is_known(void)
{
    struct laz_engine *engine = template_engine("A='b'", "pool.warm=template");
    struct laz_session *session = warm_session(engine);

    if (session) {
        test_expect_error(session, "exit 7", LAZ_VERDICT_ERROR, "with status 7");
        test_expect(session, "die 11", LAZ_VERDICT_CRASHED, NULL);
        times_out(session);
        test_expect(session, "send nonsense\nwait", LAZ_VERDICT_PROTOCOL_ERROR, NULL);
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
        CU_ASSERT(is_warm(session));
    }
    laz_engine_free(engine);
}

static void one_session_ends_and_no_other(void)
{
    struct laz_engine *engine = template_engine("A='b'", "pool.warm=template");
    struct laz_session *sessions[5];

    for (size_t i = 0; i < 5; i++)
        sessions[i] = warm_session(engine);
    int64_t pid = laz_session_pid(sessions[1]);
    times_out(sessions[0]);
    laz_session_free(sessions[4]);
    for (size_t i = 0; i < 4; i++)
        test_expect(sessions[i], "ok 42", LAZ_VERDICT_OK, "42");
    CU_ASSERT_EQUAL(laz_session_pid(sessions[1]), pid);
    laz_engine_free(engine);
}

/* Finds the descendant of this process that runs the mock as a template. */
static pid_t template_pid(void)
{
    char path[300], text[4096];
    pid_t found = -1;
    struct dirent *entry;
    DIR *proc = opendir("/proc");

    while (proc && (entry = readdir(proc))) {
        pid_t pid = (pid_t)atoi(entry->d_name), parent = -1;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *file = pid > 0 ? fopen(path, "re") : NULL;
        if (!file)
            continue;
        size_t n = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        text[n] = '\0';
        const char *end = strrchr(text, ')');
        if (!end || sscanf(end + 1, " %*c %d", &parent) != 1 || parent != getpid())
            continue;
        snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
        file = fopen(path, "re");
        n = file ? fread(text, 1, sizeof text, file) : 0;
        if (file)
            fclose(file);
        if (memmem(text, n, "--template", 10))
            found = pid;
    }
    if (proc)
        closedir(proc);
    return found;
}

static void a_lost_template_takes_its_sessions_and_is_replaced(void)
{
    struct laz_buf told = LAZ_BUF_INIT;
    struct laz_engine *engine = template_engine("A='b'", "pool.warm=template");
    struct laz_session *a = warm_session(engine), *b = warm_session(engine);
    pid_t first = template_pid();

    test_told = &told;
    CU_ASSERT_FATAL(a && b && first > 0);
    CU_ASSERT_EQUAL(kill(first, SIGKILL), 0);
    struct laz_error err = {0};
    const struct timespec moment = {0, 1000000};
    while (laz_session_is_alive(a) || laz_session_is_alive(b))
        nanosleep(&moment, NULL); /* until the kernel has ended them */
    int rc = laz_session_restart(a, &err);
    if (rc)
        printf("\n    not restarted: %s", err.text);
    CU_ASSERT_EQUAL(rc, 0);
    test_expect(a, "ok 42", LAZ_VERDICT_OK, "42");
    CU_ASSERT(is_warm(a));
    pid_t second = template_pid();
    CU_ASSERT(second > 0 && second != first);
    struct laz_session *c = warm_session(engine);
    if (c)
        test_expect(c, "ok 43", LAZ_VERDICT_OK, "43");
    CU_ASSERT_EQUAL(template_pid(), second);
    laz_engine_free(engine);
    test_told = NULL;
    laz_buf_fini(&told);
}

static int count(const char *text, const char *part)
{
    int n = 0;

    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

static void templates_are_renewed(void)
{
    struct laz_buf told = LAZ_BUF_INIT;
    struct laz_engine *engine =
        template_engine("A='b'", "pool.warm=template;pool.renew_after=2;session.verbose=true");
    struct laz_session *sessions[6];

    test_told = &told;
    for (size_t i = 0; i < 6; i++)
        sessions[i] = warm_session(engine);
    CU_ASSERT(count(laz_buf_text(&told), "a template of lua is ready") >= 3);
    /* the first one lives as long as its sessions do */
    for (size_t i = 0; i < 6; i++)
        test_expect(sessions[i], "ok 42", LAZ_VERDICT_OK, "42");
    CU_ASSERT(trace_children() >= 3);
    int before = trace_children();
    laz_session_free(sessions[0]);
    laz_session_free(sessions[1]);
    while (trace_children() >= before) /* until the loop has ended it */
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 10, NULL), 0);
    laz_engine_free(engine);
    test_told = NULL;
    laz_buf_fini(&told);
}

/* Each session would be the last of its template, and is requested before the template is ready. */
static void a_template_that_is_renewed_while_it_starts_serves_who_waits(void)
{
    struct laz_engine *engine = template_engine("A='b'", "pool.warm=template;pool.renew_after=1");
    struct laz_session_options options = warm_options();
    struct laz_result *results[4] = {0};
    struct laz_session *session;

    options.no_wait = 1;
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL_FATAL(laz_session_open(engine, &options, &session, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(laz_session_execute_async(session, "ok 42", SIZE_MAX, NULL,
                                                        start_ends, &results[i], NULL),
                              0);
    }
    for (size_t i = 0; i < 4; i++) {
        while (!results[i])
            CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
        if (laz_result_verdict(results[i]) != LAZ_VERDICT_OK)
            printf("\n    session %zu: %s", i, laz_result_error(results[i]));
        CU_ASSERT_EQUAL(laz_result_verdict(results[i]), LAZ_VERDICT_OK);
        laz_result_free(results[i]);
    }
    laz_engine_free(engine);
}

static bool session_waits_in_vain(const struct laz_template *template)
{
    return template->state == TEMPLATE_READY && template->waiting && template->boxes == 1;
}

/* Sixteen requests may be open. If none of them is answered, and all of their sessions have ended,
 * the next one waits for an answer that does not come. */
static void a_template_that_does_not_answer_is_lost(void)
{
    struct laz_engine *engine = template_engine("MOCK_SPAWN='drop'", "pool.warm=template");
    struct laz_session_options options = warm_options();
    struct laz_session *session;
    struct laz_error err = {0};

    options.no_wait = 1;
    for (size_t i = 0; i < 16; i++) {
        CU_ASSERT_EQUAL_FATAL(laz_session_open(engine, &options, &session, NULL), 0);
        struct laz_result *result = NULL;
        laz_session_execute_async(session, "ok 1", SIZE_MAX, NULL, start_ends, &result, NULL);
        while (!result)
            CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_SETUP_FAILED);
        laz_result_free(result);
        laz_session_free(session);
    }
    CU_ASSERT(start_run(engine, session_waits_in_vain, 150000, &err) < 0); /* start_timeout / 4 */
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "it does not answer"));
    laz_engine_free(engine);
}

/* ---- where it does not work ----------------------------------------------------------------- */

/* Sessions are started cold, which is logged once. */
static void warm_is_cold(const char *scripts, const char *settings, const char *part)
{
    struct laz_buf told = LAZ_BUF_INIT;
    struct laz_session *sessions[3] = {0};
    struct laz_engine *engine;

    test_told = &told;
    engine = template_engine(scripts, settings);
    for (size_t i = 0; i < 3 && engine; i++) {
        sessions[i] = warm_session(engine);
        if (sessions[i])
            test_expect(sessions[i], "ok 42", LAZ_VERDICT_OK, "42");
        CU_ASSERT(sessions[i] && !is_warm(sessions[i]));
    }
    if (count(laz_buf_text(&told), part) != 1)
        printf("\n    %s\n    said: %s\n    lacks, or has twice: %s", scripts, laz_buf_text(&told),
               part);
    CU_ASSERT_EQUAL(count(laz_buf_text(&told), part), 1);
    laz_engine_free(engine);
    test_told = NULL;
    laz_buf_fini(&told);
}

static void where_nothing_nests_sessions_are_cold(void)
{
    static const char refuse[] = "MOCK_TRIAL='send {\"id\":$id,\"error\":\"no namespaces\"}'";

    warm_is_cold(refuse, "session.verbose=true",
                 "no session can come from a template here: no namespaces; sessions are started "
                 "cold");
    warm_is_cold("MOCK_TRIAL='clone 0|answer'", "session.verbose=true",
                 "that is not in a pid namespace of its own below the template's; sessions are "
                 "started cold");
    warm_is_cold("MOCK_TRIAL='answer'", "session.verbose=true",
                 "a session ended before it was there; sessions are started cold");
    warm_is_cold("MOCK_START='connect|token|recv|" READY "'",
                 "session.verbose=true;sandbox.backend=landlock",
                 "backend landlock: it makes no namespaces, and so no templates; sessions are "
                 "started cold");
    warm_fails(refuse, "pool.warm=template", LAZ_ESETUP, "no namespaces");
    warm_fails("A='b'", "pool.warm=template;sandbox.backend=landlock", LAZ_EREFUSED,
               "backend landlock: it makes no namespaces");
}

static void a_template_that_does_not_start_is_told(void)
{
    static const char broken[] = "MOCK_TEMPLATE='connect|token|recv|send "
                                 "{\"type\":\"error\",\"kind\":\"setup\",\"message\":\"no such "
                                 "package\"}|eof'";

    warm_fails(broken, "pool.warm=template", LAZ_ESETUP, "no such package");
    warm_fails("MOCK_TEMPLATE='complain a library is missing|exit 3'", "pool.warm=template",
               LAZ_ESETUP, "a library is missing");
    warm_fails_at("MOCK_TEMPLATE='connect|token|recv|eof'",
                  "pool.warm=template;session.start_timeout=0.5", LAZ_ESETUP,
                  "not ready within start_timeout", template_is_there, 500);
    warm_fails("MOCK_TEMPLATE='connect|token|recv|send {\"type\":\"ready\",\"protocol\":2}|eof'",
               "pool.warm=template", LAZ_ESETUP, "speaks another protocol");
    warm_fails("MOCK_TEMPLATE='connect|send wrong|eof'", "pool.warm=template", LAZ_ESETUP,
               "a wrong token was shown");
    warm_is_cold(broken, "pool.warm=auto;session.verbose=true",
                 "no such package; for 1 s sessions are started cold");
}

/* ---- what the host must notice -------------------------------------------------------------- */

/* The session never reaches its `ready`, so that the host notices what its template does. */
#define GOOD_TRIAL "MOCK_TRIAL='clone|answer',MOCK_SESSION='token|split|wait',"

/* After a good trial the spawn fails: there is no session, and unless the template only refused, a
 * new template is started for the next one. */
static void a_session_that_is_not_what_it_should_be_is_refused(void)
{
    static const struct {
        const char *scripts, *part;
    } rows[] = {
        {"MOCK_SPAWN='send {\"id\":$id,\"error\":\"there is no room\"}|drop'", "there is no room"},
        {"MOCK_SPAWN='drop|answer'", "the session did not start"},
        {"MOCK_SPAWN='clone 0|answer'", "not in a pid namespace of its own below the template's"},
        {"MOCK_SPAWN='clone 2|answer'", "not in a pid namespace of its own below the template's"},
        {"MOCK_SPAWN='second|answer'", "not the first of its pid namespace"},
        {"MOCK_SPAWN='speak $token|answer|eof'", "not in a pid namespace of its own below"},
        {"MOCK_SPAWN='speak nothing|answer|eof'", "a wrong token was shown"},
        {"MOCK_SPAWN='speak $token|clone|answer|eof'", "not in a pid namespace of its own below"},
        {"MOCK_SPAWN='send {\"id\":77,\"value\":1}|eof'", "it answered what it was not asked"},
        {"MOCK_SPAWN='send {\"id\":$id}|eof'", "has not exactly one of 'value' and 'error'"},
        {"MOCK_SPAWN='send {\"id\":$id,\"value\":1,\"error\":\"x\"}|eof'",
         "has not exactly one of 'value' and 'error'"},
        {"MOCK_SPAWN='send {\"value\":1}|eof'", "an answer lacks its id"},
        {"MOCK_SPAWN='send {\"type\":\"ready\",\"protocol\":1}|eof'", "is not allowed now"},
        {"MOCK_SPAWN='send {\"type\":\"tool_call\",\"id\":1,\"tool\":\"add\"}|eof'",
         "is not allowed now"},
        {"MOCK_SPAWN='send nonsense|eof'", "not valid JSON"},
        /* the host may notice the end of the session before that of its template */
        {"MOCK_SPAWN='clone|answer|answer|eof'", "the session did not start"},
        {"MOCK_SPAWN='exit 3'", "the session did not start"},
        {"MOCK_SPAWN='die 9'", "the session did not start"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *scripts = laz_strdupf(GOOD_TRIAL "%s", rows[i].scripts);
        warm_fails(scripts, "pool.warm=auto", LAZ_ESETUP, rows[i].part);
        free(scripts);
    }
    warm_fails_at(GOOD_TRIAL "MOCK_SPAWN='hangup|wait'", "pool.warm=auto", LAZ_ESETUP,
                  "the template of lua", template_has_hung_up, 10000);
}

static void only_the_token_makes_a_session(void)
{
    static const char *const scripts[] = {
        "MOCK_SESSION='send abcdefghijklmnopqrstuvwxyz012345|eof'",
        "MOCK_SESSION='send $tokenx|eof'",
        "MOCK_SESSION='raw \\n|eof'",
        "MOCK_SESSION='fill 100000|eof'",
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        warm_fails(scripts[i], "pool.warm=template", LAZ_ESETUP, "a wrong token was shown");
}

static void a_silent_session_is_given_five_seconds(void)
{
    warm_fails_at("MOCK_SESSION='raw half|eof'", "pool.warm=template;session.start_timeout=20",
                  LAZ_ESETUP, "no token was shown within 5 seconds", trial_speaks, 5000);
}

static void start_timeout_holds_for_a_spawn(void)
{
    warm_fails_at("MOCK_TRIAL='clone|answer',MOCK_SPAWN='wait'",
                  "pool.warm=template;session.start_timeout=2", LAZ_ESETUP,
                  "not ready within start_timeout (2 s)", session_is_asked_for, 2000);
}

static const struct unit_test tests[] = {
    UNIT(a_session_comes_from_a_template),
    UNIT(a_session_that_does_not_ask_is_cold),
    UNIT(how_a_session_ended_is_known),
    UNIT(one_session_ends_and_no_other),
    UNIT(a_lost_template_takes_its_sessions_and_is_replaced),
    UNIT(templates_are_renewed),
    UNIT(a_template_that_is_renewed_while_it_starts_serves_who_waits),
    UNIT(a_template_that_does_not_answer_is_lost),
    UNIT(where_nothing_nests_sessions_are_cold),
    UNIT(a_template_that_does_not_start_is_told),
    UNIT(a_session_that_is_not_what_it_should_be_is_refused),
    UNIT(only_the_token_makes_a_session),
    UNIT(a_silent_session_is_given_five_seconds),
    UNIT(start_timeout_holds_for_a_spawn),
    {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("template", tests);
}
