/* SPDX-License-Identifier: MIT */
/* test_approvals.c - calls that wait for a yes of the host: who is asked, when, what each answer
 * means, and that no clock runs meanwhile. */
#include "live.h"

#include "engine/engine.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- who decides ----------------------------------------------------------------------------- */

/* How the host answers, and what it was asked. */
static struct {
    const char *value, *error; /* NULL and NULL: it keeps the reply in `kept` */
    struct laz_engine *engine; /* whose clock is moved by `ms` before it answers */
    uint64_t ms;
    struct laz_session *cancels; /* this one, in place of an answer */
    struct laz_reply *kept;
    bool is_free; /* the tool may be called without a question */
    atomic_uint asked, called;
    char tool[64], args[200], session[64];
} host;

static void decide(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const struct laz_caller *caller = laz_reply_caller(reply);

    CU_ASSERT_PTR_EQUAL(user, &host);
    snprintf(host.tool, sizeof host.tool, "%s", caller->tool);
    snprintf(host.args, sizeof host.args, "%.*s", (int)len, args);
    snprintf(host.session, sizeof host.session, "%s", caller->session);
    if (!host.error && !host.value) { /* before anything that ends the execution */
        host.kept = reply;
        laz_reply_keep(reply);
    }
    atomic_fetch_add(&host.asked, 1);
    if (host.engine)
        test_post_advance(host.engine, host.ms);
    if (host.cancels)
        laz_session_cancel(host.cancels);
    if (host.error)
        laz_reply_error(reply, host.error);
    else if (host.value)
        laz_reply_value(reply, host.value, strlen(host.value));
}

static void erase(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    CU_ASSERT(atomic_fetch_add(&host.called, 1) < atomic_load(&host.asked) || host.is_free);
    laz_reply_value(reply, "\"erased\"", 8);
}

/* An engine with the tool erase(path, force = false), which needs approvals if `approve`. */
static struct laz_engine *engine_with(const char *settings, bool approve, bool decides)
{
    const struct laz_tool tool = {
        .size = sizeof tool,
        .name = "erase",
        .description = "",
        .parameters = "[{\"name\":\"path\"},{\"name\":\"force\",\"default\":false},"
                      "{\"name\":\"why\",\"type\":\"string\",\"required\":false},"
                      "{\"name\":\"file\",\"type\":\"string\",\"format\":\"path\","
                      "\"required\":false}]",
        .approve = approve,
    };
    struct laz_engine *engine = test_engine(settings);

    memset(&host, 0, sizeof host);
    host.value = "true";
    if (!engine)
        return NULL;
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, erase, NULL, NULL), 0);
    if (decides)
        CU_ASSERT_EQUAL(laz_engine_set_approver(engine, decide, &host, NULL), 0);
    return engine;
}

static struct laz_session *session_with(const char *settings, bool approve, bool decides)
{
    struct laz_engine *engine = engine_with(settings, approve, decides);
    if (!engine)
        return NULL;
    struct laz_session *session = test_session(engine, "lua");
    if (!session)
        laz_engine_free(engine);
    return session;
}

static void end(struct laz_session *session)
{
    laz_engine_free(test_engine_of(session));
}

/* ---- answers ----------------------------------------------------------------------------------
 */

static void a_yes_lets_the_call_go_on(void)
{
    struct laz_session *session = session_with("", true, true);

    if (!session)
        return;
    test_expect(session, "x = 1 return erase('/tmp/a') .. x", LAZ_VERDICT_OK, "\"erased1\"");
    CU_ASSERT_EQUAL(atomic_load(&host.asked), 1);
    CU_ASSERT_EQUAL(atomic_load(&host.called), 1);
    UNIT_TEXT(host.tool, "erase");
    UNIT_TEXT(host.args, "{\"path\":\"/tmp/a\",\"force\":false}");
    UNIT_TEXT(host.session, laz_session_id(session));
    /* arguments are checked before somebody is asked */
    test_expect_error(session, "erase()", LAZ_VERDICT_ERROR, "argument 'path' is missing");
    CU_ASSERT_EQUAL(atomic_load(&host.asked), 1);
    end(session);
}

static void anything_else_is_a_no(void)
{
    static const struct {
        const char *value, *error, *text;
    } rows[] = {
        {"false", NULL, "the call was not approved"},
        {"null", NULL, "the call was not approved"},
        {"1", NULL, "the call was not approved"},
        {"\"true\"", NULL, "the call was not approved"},
        {"[true]", NULL, "the call was not approved"},
        {"nonsense", NULL, "the call was not approved: the tool's answer is not valid JSON"},
        {NULL, "ask me on Monday", "the call was not approved: ask me on Monday"},
    };
    struct laz_session *session = session_with("", true, true);

    for (size_t i = 0; session && i < sizeof rows / sizeof *rows; i++) {
        host.value = rows[i].value;
        host.error = rows[i].error;
        test_expect_error(session, "return erase('a')", LAZ_VERDICT_ERROR, rows[i].text);
        test_expect(session, "return (pcall(erase, 'a'))", LAZ_VERDICT_OK, "false");
        CU_ASSERT_EQUAL(atomic_load(&host.asked), 2 * (i + 1));
    }
    CU_ASSERT_EQUAL(atomic_load(&host.called), 0);
    if (session)
        end(session);
}

static void nobody_is_a_no(void)
{
    struct laz_session *session = session_with("session.approval_timeout=0", true, false);

    if (!session)
        return;
    test_expect_error(session, "erase('a')", LAZ_VERDICT_ERROR, "nobody is there to give it");
    CU_ASSERT_EQUAL(laz_engine_set_approver(test_engine_of(session), decide, &host, NULL), 0);
    test_expect(session, "return erase('a')", LAZ_VERDICT_OK, "\"erased\"");
    CU_ASSERT_EQUAL(laz_engine_set_approver(test_engine_of(session), NULL, NULL, NULL), 0);
    test_expect_error(session, "erase('a')", LAZ_VERDICT_ERROR, "nobody is there to give it");
    CU_ASSERT_EQUAL(atomic_load(&host.called), 1);
    CU_ASSERT_EQUAL(laz_engine_set_approver(NULL, decide, &host, NULL), LAZ_EINVAL);
    end(session);
}

static void several_wait_side_by_side(void)
{
    struct laz_session *session = session_with("", true, true);

    if (!session)
        return;
    test_expect(session, "local t = tool_map(erase, {'a', 'b', 'c'}) return #t .. t[1] .. t[3]",
                LAZ_VERDICT_OK, "\"3erasederased\"");
    CU_ASSERT_EQUAL(atomic_load(&host.asked), 3);
    CU_ASSERT_EQUAL(atomic_load(&host.called), 3);
    end(session);
}

/* ---- rules ------------------------------------------------------------------------------------
 */

/* No session is opened with these settings, for the reason `text`. */
static void refuses(const char *settings, const char *text)
{
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_engine *engine = engine_with(settings, false, true);
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    if (!engine)
        return;
    CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NULL(session);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, text));
    laz_engine_free(engine);
}

static void rules_say_which_calls(void)
{
    static const struct {
        const char *rules, *code; /* code NULL: no session is opened */
        unsigned asked;
    } rows[] = {
        {"[]", "erase('a')", 0},
        {"[{tool=\"erase\"}]", "erase('a')", 1},
        {"[{tool=\"eras\"},{tool=\"er\"}]", NULL, 0},
        {"[{tool=\"deploy\"}]", "erase('a')", 0}, /* a session may have it */
        {"[{tool=\"e*e\"}]", "erase('a')", 1},
        {"[{tool=\"*\"}]", "echo(1)", 1},
        {"[{tool=\"delete_*\"},{tool=\"?rase\"}]", "erase('a')", 1},
        {"[{tool=\"erase\",when={path=\"/etc/*\"}}]", "erase('/etc/passwd')", 1},
        {"[{tool=\"erase\",when={path=\"/etc/*\"}}]", "erase('/tmp/etc/')", 0},
        {"[{tool=\"erase\",when={path=\"/etc/*\",force=\"true\"}}]", "erase('/etc/a')", 0},
        {"[{tool=\"erase\",when={path=\"/etc/*\",force=\"true\"}}]", "erase('/etc/a', true)", 1},
        {"[{tool=\"erase\",when={force=\"false\"}}]", "erase('a')", 1}, /* the default */
        {"[{tool=\"erase\",when={path=\"2\"}}]", "erase(2)", 1},
        {"[{tool=\"erase\",when={path=\"2\"}}]", "erase(22)", 0},
        {"[{tool=\"erase\",when={why=\"*\"}}]", "erase('a')", 0}, /* it is not there */
        {"[{tool=\"erase\",when={why=\"*\"}}]", "erase('a', false, '')", 1},
        /* in a list any item counts, and what hides its text matches */
        {"[{tool=\"erase\",when={path=\"/etc/*\"}}]", "erase({'/tmp/a', {'/etc/b'}})", 1},
        {"[{tool=\"erase\",when={path=\"/etc/*\"}}]", "erase({'/tmp/a', '/b'})", 0},
        {"[{tool=\"erase\",when={path=\"/etc/*\"}}]", "erase({to = 'a'})", 1},
        {"[{tool=\"erase\",when={path=\"/etc/*\"}}]", "erase('\\255')", 1},
        {"[{tool=\"erase\",when={path=\"2\"}}]", "erase(2.0)", 1},
        {"[{tool=\"erase\",when={path=\"2.0\"}}]", "erase('2')", 1},
        {"[{tool=\"erase\",when={file=\"/etc/*\"}}]", "erase('a', false, 'b', '/tmp/../etc')", 1},
        {"[{tool=\"erase\",when={file=\"/etc/*\"}}]", "erase('a', false, 'b', '//etc/./x')", 1},
        {"[{tool=\"erase\",when={file=\"/etc/*\"}}]", "erase('a', false, 'b', '//tmp/./x')", 0},
        /* what no tool has must not let calls pass; a parameter of some tools that are named may */
        {"[{tool=\"erase\",when={paht=\"/etc/*\"}}]", NULL, 0},
        {"[{tool=\"*\",when={path=\"/etc/*\"}}]", "echo(1)", 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *settings = laz_strdupf("approve=%s", rows[i].rules);
        if (!rows[i].code) {
            refuses(settings, "did you mean");
            free(settings);
            continue;
        }
        struct laz_session *session = session_with(settings, false, true);
        free(settings);
        if (!session)
            return;
        host.is_free = true;
        test_expect(session, rows[i].code, LAZ_VERDICT_OK, NULL);
        if (atomic_load(&host.asked) != rows[i].asked)
            printf("\n    %s\n    %s", rows[i].rules, rows[i].code);
        CU_ASSERT_EQUAL(atomic_load(&host.asked), rows[i].asked);
        end(session);
    }
}

/* ---- time --------------------------------------------------------------------------------------
 */

static void no_clock_runs_meanwhile(void)
{
    struct laz_session *session = session_with("session.timeout=1;session.deadline=2", true, true);

    if (!session)
        return;
    test_hold_clock(test_engine_of(session));
    host.engine = test_engine_of(session);
    host.ms = 3500 * 1000;
    test_expect(session, "return erase('a')", LAZ_VERDICT_OK, "\"erased\"");
    host.value = "false";
    test_expect(session, "return (pcall(erase, 'a'))", LAZ_VERDICT_OK, "false");
    /* what was left of both runs on: the rest of 1 s, here */
    struct test_advance advance = {test_engine_of(session), 1000, 0};
    const struct laz_execute_options options = {
        .size = sizeof options, .line = test_line_advances, .user = &advance};
    test_expect_with(session, "pcall(erase, 'a') print('x') while true do end", &options,
                     LAZ_VERDICT_TIMEOUT, NULL);
    end(session);
}

/* The time before an approval and after it is one deadline. */
static void the_deadline_goes_on(void)
{
    struct laz_session *session = session_with("session.timeout=0;session.deadline=2", true, true);

    if (!session)
        return;
    test_hold_clock(test_engine_of(session));
    host.engine = test_engine_of(session);
    host.ms = 3000 * 1000;
    test_expect_error(session, "slow(1500) erase('a') slow(400) slow(200)", LAZ_VERDICT_DEADLINE,
                      "");
    test_expect(session, "slow(1500) erase('a') slow(400) return 7", LAZ_VERDICT_OK, "7");
    end(session);
}

static void approval_timeout_is_a_no(void)
{
    struct laz_session *session = session_with("session.approval_timeout=60", true, true);

    if (!session)
        return;
    test_hold_clock(test_engine_of(session));
    host.engine = test_engine_of(session);
    host.ms = 60000;
    host.value = NULL; /* it answers later: too late */
    test_expect_error(session, "erase('a')", LAZ_VERDICT_ERROR,
                      "the call was not approved: no decision came within 60 seconds");
    CU_ASSERT_PTR_NOT_NULL_FATAL(host.kept);
    CU_ASSERT(laz_reply_is_cancelled(host.kept));
    laz_reply_value(host.kept, "true", 4);
    laz_reply_free(host.kept);
    CU_ASSERT_EQUAL(atomic_load(&host.called), 0);
    test_expect(session, "return 1", LAZ_VERDICT_OK, "1");
    end(session);
}

/* ---- the end -----------------------------------------------------------------------------------
 */

static void an_execution_ends_while_it_waits(void)
{
    struct laz_session *session = session_with("", true, true);

    if (!session)
        return;
    host.value = NULL;
    host.cancels = session;
    test_expect(session, "erase('a')", LAZ_VERDICT_CANCELLED, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(host.kept);
    laz_reply_value(host.kept, "true", 4);
    laz_reply_free(host.kept);
    host.cancels = NULL;
    host.value = "true";
    test_expect(session, "return erase('a')", LAZ_VERDICT_OK, "\"erased\"");
    CU_ASSERT_EQUAL(atomic_load(&host.called), 1);
    end(session);
}

static void ended(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)user, (void)err;
    laz_result_free(result);
}

static void a_decision_may_come_after_the_engine(void)
{
    struct laz_session *session = session_with("", true, true);
    struct laz_engine *engine = session ? test_engine_of(session) : NULL;
    struct laz_error err = {0};

    if (!session)
        return;
    host.value = NULL;
    CU_ASSERT_EQUAL_FATAL(
        laz_session_execute_async(session, "erase('a')", SIZE_MAX, NULL, ended, NULL, &err), 0);
    while (!atomic_load(&host.asked))
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 10, NULL), 0);
    laz_engine_free(engine);
    CU_ASSERT_PTR_NOT_NULL_FATAL(host.kept);
    CU_ASSERT(laz_reply_is_cancelled(host.kept));
    laz_reply_value(host.kept, "true", 4);
    laz_reply_free(host.kept);
    CU_ASSERT_EQUAL(atomic_load(&host.called), 0);
}

/* ---- the log -----------------------------------------------------------------------------------
 */

static void decisions_are_recorded(void)
{
    char directory[] = "/tmp/laz-test-approvals-XXXXXX", text[8192] = "";

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    char *settings = laz_strdupf("audit.file=%s/log", directory);
    struct laz_session *session = session_with(settings, true, true);
    if (session) {
        test_expect(session, "erase('a')", LAZ_VERDICT_OK, NULL);
        host.value = NULL;
        host.error = "no";
        test_expect(session, "pcall(erase, 'b')", LAZ_VERDICT_OK, NULL);
        end(session);
    }
    FILE *file = fopen(strchr(settings, '=') + 1, "re");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    const char *yes = strstr(text, "\"tool_approval\""),
               *no = yes ? strstr(yes + 1, "\"tool_approval\"") : NULL;
    CU_ASSERT_FATAL(yes && no);
    CU_ASSERT(strstr(yes, "\"call\":1,\"tool\":\"erase\",\"approved\":true") != NULL);
    CU_ASSERT(strstr(yes, "\"tool_result\"") && strstr(yes, "\"tool_result\"") < no);
    CU_ASSERT(strstr(no, "\"approved\":false,\"reason\":\"the call was not approved: no\"") !=
              NULL);
    CU_ASSERT_PTR_NULL(strstr(no, "\"tool_result\"")); /* it was not called */
    unlink(strchr(settings, '=') + 1);
    rmdir(directory);
    free(settings);
}

/* ---- what code reads about it ----------------------------------------------------------------
 */

static void helping(struct laz_session *session, const struct words *w)
{
    static const struct {
        const char *name, *description, *says;
        struct phrase help;
    } rows[] = {
        {"always",
         "Always.",
         "Always. Each call waits for an approval.",
         {.python = "help(always)", .r = "print(?always)", .lua = "help(always)"}},
        {"some",
         "Some",
         "Some. A call may have to wait for an approval, as its arguments are.",
         {.python = "help(some)", .r = "print(?some)", .lua = "help(some)"}},
        {"never",
         "Never",
         "Never",
         {.python = "help(never)", .r = "print(?never)", .lua = "help(never)"}},
    };
    struct laz_tool tools[3];
    struct laz_session_tool items[3];
    const struct laz_session_tool *list[3];
    struct laz_session *own = NULL;

    for (size_t i = 0; i < 3; i++) {
        tools[i] = (struct laz_tool){
            .size = sizeof *tools,
            .name = rows[i].name,
            .description = rows[i].description,
            .parameters = "[{\"name\":\"path\"}]",
            .approve = i == 0,
        };
        items[i] = (struct laz_session_tool){
            .size = sizeof *items, .tool = &tools[i], .call = erase, .user = NULL};
        list[i] = &items[i];
    }
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = w->runtime, .tools = list, .n_tools = 3};
    CU_ASSERT_EQUAL_FATAL(laz_session_open(test_engine_of(session), &options, &own, NULL), 0);
    for (size_t i = 0; i < 3; i++) {
        struct laz_result *result = test_run(own, test_phrase(w, &rows[i].help), NULL);
        char *text = test_output(result, LAZ_STDOUT);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, rows[i].says));
        CU_ASSERT_EQUAL(strstr(text, "approval") != NULL, i < 2);
        free(text);
        laz_result_free(result);
    }
    laz_session_free(own);
}

static void help_says_which_calls_wait(void)
{
    test_each("approve=[{tool=\"some\",when={path=\"/etc/*\"}}]", helping);
}

static const struct unit_test tests[] = {
    UNIT(a_yes_lets_the_call_go_on),
    UNIT(anything_else_is_a_no),
    UNIT(nobody_is_a_no),
    UNIT(several_wait_side_by_side),
    UNIT(rules_say_which_calls),
    UNIT(no_clock_runs_meanwhile),
    UNIT(the_deadline_goes_on),
    UNIT(approval_timeout_is_a_no),
    UNIT(an_execution_ends_while_it_waits),
    UNIT(a_decision_may_come_after_the_engine),
    UNIT(decisions_are_recorded),
    UNIT(help_says_which_calls_wait),
    {0},
};

int main(void)
{
    return unit_run("approvals", tests);
}
