/* SPDX-License-Identifier: MIT */
/* test_choice.c - which backend an engine gets while several ask for it: trials in the order that
 * no machine gives, cancelled and left in the middle.
 *
 * The program of the backend is a script. Run number N of it creates the directory runs/N, waits
 * until the test has written what it does into the file runs/do-N, and does that: it fails, or
 * becomes bubblewrap. */
#include "live.h"
#include "traces.h"

#include "base/buf.h"
#include "engine/engine.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/uids.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURN_MS 10

static const char script[] = "#!/bin/sh\n"
                             "cd '%s/runs' || exit 1\n"
                             "n=1\n"
                             "while ! mkdir $n 2>/dev/null; do n=$((n + 1)); done\n"
                             "while [ ! -e do-$n ]; do sleep 0.01; done\n"
                             "case $(cat do-$n) in real) exec bwrap \"$@\" ;; esac\n"
                             "echo \"run $n fails\" >&2\n"
                             "exit 3\n";

static char directory[64];

static bool choice_write(const char *name, const char *text)
{
    char path[128], before[128];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(before, sizeof before, "%s/new", directory);
    FILE *file = fopen(before, "w");
    bool ok = file && fputs(text, file) >= 0;
    ok = file && !fclose(file) && ok;
    return ok && !chmod(before, 0755) && !rename(before, path);
}

static void choice_let(unsigned run, const char *what)
{
    char name[32];

    snprintf(name, sizeof name, "runs/do-%u", run);
    CU_ASSERT_TRUE_FATAL(choice_write(name, what));
}

static bool choice_has_run(unsigned run)
{
    char path[128];

    snprintf(path, sizeof path, "%s/runs/%u", directory, run);
    return access(path, F_OK) == 0;
}

static void choice_await_run(struct laz_engine *engine, unsigned run)
{
    while (!choice_has_run(run))
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, TURN_MS, NULL), 0);
}

static void choice_await(struct laz_engine *engine, const struct laz_session *session)
{
    while (session->start.under_way)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
}

/* An engine whose bubblewrap is the script. */
static struct laz_engine *choice_engine(const char *settings)
{
    char runs[96];
    struct laz_buf text = LAZ_BUF_INIT;

    snprintf(directory, sizeof directory, "/tmp/lazaret-choice-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(runs, sizeof runs, "%s/runs", directory);
    CU_ASSERT_EQUAL_FATAL(chmod(directory, 0755), 0);
    CU_ASSERT_EQUAL_FATAL(mkdir(runs, 0755), 0);
    CU_ASSERT_EQUAL_FATAL(chmod(runs, 0777), 0); /* the script has the uid of its session */
    laz_buf_printf(&text, script, directory);
    CU_ASSERT_TRUE_FATAL(choice_write("bwrap", laz_buf_text(&text)));
    laz_buf_clear(&text);
    laz_buf_printf(&text, "sandbox.bwrap.program=%s/bwrap;audit.file=%s/log;%s", directory,
                   directory, settings);
    struct laz_engine *engine = test_engine(laz_buf_text(&text));
    laz_buf_fini(&text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    return engine;
}

static void choice_end(struct laz_engine *engine)
{
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(trace_children(), 0);
    laz_os_remove_tree(directory);
}

static struct laz_session *choice_session(struct laz_engine *engine, bool warm)
{
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = "lua", .no_wait = 1, .warm = warm};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    if (laz_session_open(engine, &options, &session, &err))
        printf("\n    %s", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    return session;
}

/* Two sessions begin with the first candidate; one of them has not come up, and the trial of the
 * same backend is under way as run 3. */
static struct laz_engine *choice_at_trial(const char *settings, struct laz_session *sessions[2])
{
    struct laz_engine *engine = choice_engine(settings);

    for (unsigned i = 0; i < 2; i++) {
        sessions[i] = choice_session(engine, false);
        choice_await_run(engine, i + 1);
    }
    choice_let(1, "fail");
    choice_await_run(engine, 3);
    CU_ASSERT_TRUE(sessions[0]->start.is_choosing);
    CU_ASSERT_FALSE(sessions[1]->start.is_choosing);
    return engine;
}

static void those_that_fail_meanwhile_are_answered_together(void)
{
    struct laz_session *sessions[2];
    struct laz_engine *engine = choice_at_trial("sandbox.backend=[\"bwrap\",\"bwrap\"]", sessions);

    choice_let(2, "fail");
    while (!sessions[1]->start.is_choosing)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    choice_let(3, "fail");
    choice_await_run(engine, 4);
    choice_let(4, "fail");
    for (unsigned i = 0; i < 2; i++) {
        choice_await(engine, sessions[i]);
        CU_ASSERT_EQUAL(sessions[i]->start.rc, LAZ_ESETUP);
    }
    CU_ASSERT_FALSE(choice_has_run(5));
    choice_end(engine);
}

/* One of two that ask is freed in each step of the trial; then the engine is. */
static void who_has_asked_may_go(void)
{
    for (unsigned step = 3; step <= 4; step++) {
        struct laz_session *sessions[2];
        struct laz_engine *engine =
            choice_at_trial("sandbox.backend=[\"bwrap\",\"bwrap\"]", sessions);
        struct laz_session *late = choice_session(engine, false);
        CU_ASSERT_TRUE(late->start.is_choosing);
        if (step == 4) {
            choice_let(3, "fail");
            choice_await_run(engine, 4);
        }
        laz_session_free(sessions[0]);
        CU_ASSERT_PTR_NOT_NULL(engine->boxes.trial);
        laz_session_free(late);
        CU_ASSERT_PTR_NULL(engine->boxes.trial);
        CU_ASSERT_TRUE(sessions[1]->start.under_way);
        CU_ASSERT_TRUE(choice_session(engine, false)->start.under_way);
        choice_end(engine);
    }
}

static void an_engine_is_freed_in_the_middle_of_a_trial(void)
{
    for (unsigned step = 3; step <= 4; step++) {
        struct laz_session *sessions[2];
        struct laz_engine *engine =
            choice_at_trial("sandbox.backend=[\"bwrap\",\"bwrap\"]", sessions);
        if (step == 4) {
            choice_let(3, "fail");
            choice_await_run(engine, 4);
        }
        choice_end(engine);
    }
}

/* Whichever candidate is tried, each start that waits for the trial is cancelled. */
static void a_cancel_ends_the_starts_that_wait_for_a_trial(void)
{
    for (unsigned step = 3; step <= 4; step++) {
        struct laz_session *sessions[2];
        struct laz_engine *engine =
            choice_at_trial("sandbox.backend=[\"bwrap\",\"bwrap\"]", sessions);
        struct laz_session *late = choice_session(engine, false);
        if (step == 4) {
            choice_let(3, "fail");
            choice_await_run(engine, 4);
        }
        laz_engine_cancel(engine);
        choice_await(engine, sessions[0]);
        choice_await(engine, sessions[1]);
        choice_await(engine, late);
        CU_ASSERT_EQUAL(sessions[0]->start.rc, LAZ_ECANCELLED);
        CU_ASSERT_EQUAL(sessions[1]->start.rc, LAZ_ECANCELLED);
        CU_ASSERT_EQUAL(late->start.rc, LAZ_ECANCELLED);
        CU_ASSERT_PTR_NULL(engine->boxes.trial);
        CU_ASSERT_FALSE(choice_has_run(5));
        choice_end(engine);
    }
}

/* A session that comes up proves its backend, whatever a trial has found: no weaker one is taken.
 */
static void a_backend_is_kept_when_a_session_of_it_comes_up(void)
{
    struct laz_session *sessions[2];
    struct laz_engine *engine =
        choice_at_trial("sandbox.backend=[\"bwrap\",\"bwrap\",\"landlock\"]", sessions);

    choice_let(3, "fail");
    choice_await_run(engine, 4);
    choice_let(2, "real");
    choice_await(engine, sessions[1]);
    CU_ASSERT_EQUAL(sessions[1]->start.rc, 0);
    choice_let(4, "fail");
    choice_await(engine, sessions[0]);
    CU_ASSERT_EQUAL(sessions[0]->start.rc, LAZ_ESETUP);
    CU_ASSERT_PTR_NOT_NULL(engine->boxes.choice.ops);
    CU_ASSERT_STRING_EQUAL(engine->boxes.choice.name, "bwrap");
    choice_end(engine);
}

/* The template of a backend ends after that was given up. */
static void a_template_ends_when_there_is_no_backend_any_more(void)
{
    struct laz_engine *engine =
        choice_engine("sandbox.backend=[\"bwrap\",\"bwrap\"];pool.warm=template");
    struct laz_session *warm = choice_session(engine, true);

    choice_await_run(engine, 1);
    for (unsigned run = 2; run <= 4; run++)
        choice_let(run, "fail");
    struct laz_session *cold = choice_session(engine, false);
    choice_await(engine, cold);
    CU_ASSERT_EQUAL(cold->start.rc, LAZ_ESETUP);
    CU_ASSERT_PTR_NULL(engine->boxes.choice.ops);
    for (unsigned run = 5; run <= 20; run++)
        choice_let(run, "fail");
    choice_let(1, "fail");
    choice_await(engine, warm);
    CU_ASSERT_EQUAL(warm->start.rc, LAZ_ESETUP);
    CU_ASSERT(strstr(warm->start.why.text, "fails") != NULL);
    choice_end(engine);
}

/* The session comes up, or does not, when others have been given another backend. */
static void records_name_the_backend_of_the_box(void)
{
    static const struct {
        const char *what, *event;
    } rows[] = {{"real", "session_start"}, {"fail", "session_start_failed"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char file[96], record[200];
        struct laz_session *sessions[2];
        struct laz_buf log = LAZ_BUF_INIT;
        struct laz_engine *engine =
            choice_at_trial("sandbox.backend=[\"bwrap\",\"landlock\"]", sessions);
        snprintf(file, sizeof file, "%s/log", directory);
        choice_let(3, "fail");
        choice_await(engine, sessions[0]);
        CU_ASSERT_STRING_EQUAL(engine->boxes.choice.name, "landlock"); /* whether or not it works */
        choice_let(2, rows[i].what);
        choice_await(engine, sessions[1]);
        CU_ASSERT(i || strstr(laz_session_describe(sessions[1]), " backend=bwrap ") != NULL);
        snprintf(record, sizeof record,
                 "\"event\":\"%s\",\"session_id\":\"%s\",\"runtime\":\"lua\","
                 "\"backend\":\"bwrap\"",
                 rows[i].event, laz_session_id(sessions[1]));
        CU_ASSERT_EQUAL(laz_os_read_file(file, 1 << 20, &log, NULL), 0);
        CU_ASSERT(strstr(laz_buf_text(&log), record) != NULL);
        laz_buf_fini(&log);
        choice_end(engine);
    }
}

/* That another engine has all uids says nothing of any backend, least of all that none works. */
static void uids_that_are_in_use_lead_to_no_other_backend(void)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_session *session = NULL;
    struct laz_error err = {0};
    char settings[128];
    uint32_t uid;

    if (geteuid() != 0) {
        unit_skip("root", "only root has sessions of other uids");
        return;
    }
    uint32_t only = 2050000000u + (uint32_t)getpid();
    snprintf(settings, sizeof settings,
             "sandbox.backend=[\"bwrap\",\"landlock\"];sandbox.strict=false;sandbox.uids=%u-%u",
             only, only);
    struct laz_engine *engine = test_engine(settings);
    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    CU_ASSERT_EQUAL_FATAL(laz_uids_take(engine->boxes.uids, &uid, &err), 0);
    CU_ASSERT_EQUAL(laz_session_open(engine, &lua, &session, &err), LAZ_EBUSY);
    CU_ASSERT_PTR_NULL(engine->boxes.choice.ops);
    laz_uids_give_back(engine->boxes.uids, uid);
    session = test_session(engine, "lua");
    CU_ASSERT(session && strstr(laz_session_isolation(session), "\"backend\":\"bwrap\""));
    laz_engine_free(engine);
}

/* What has no namespaces is chosen for nobody there, neither at first nor because bubblewrap fails.
 */
static void tenants_get_no_backend_without_namespaces(void)
{
    static const struct {
        const char *settings;
        bool runs;
    } rows[] = {{"sandbox.backend=landlock", false},
                {"sandbox.backend=none", false},
                {"sandbox.backend=[\"bwrap\",\"landlock\"]", true},
                {"sandbox.backend=[\"bwrap\",\"landlock\"];sandbox.strict=false", true}};
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        struct laz_engine *engine = choice_engine(rows[i].settings);
        engine->boxes.of_tenants = true;
        for (unsigned run = 1; rows[i].runs && run < 4; run++)
            choice_let(run, "fail");
        CU_ASSERT_EQUAL(laz_session_open(engine, &lua, &session, &err),
                        rows[i].runs ? LAZ_ESETUP : LAZ_EREFUSED);
        CU_ASSERT_PTR_NULL(session);
        CU_ASSERT_PTR_NULL(engine->boxes.choice.ops);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cluster.tenant"));
        CU_ASSERT_EQUAL(!strstr(err.text, "run 1 fails") && !strstr(err.text, "run 2 fails"),
                        !rows[i].runs);
        choice_end(engine);
    }
    struct laz_engine *engine = choice_engine("sandbox.backend=[\"landlock\",\"bwrap\"]");
    engine->boxes.of_tenants = true;
    choice_let(1, "real");
    choice_let(2, "real");
    struct laz_session *session = test_session(engine, "lua");
    CU_ASSERT(session && strstr(laz_session_isolation(session), "\"backend\":\"bwrap\""));
    choice_end(engine);
}

static const struct unit_test tests[] = {
    UNIT(those_that_fail_meanwhile_are_answered_together),
    UNIT(who_has_asked_may_go),
    UNIT(an_engine_is_freed_in_the_middle_of_a_trial),
    UNIT(a_cancel_ends_the_starts_that_wait_for_a_trial),
    UNIT(a_backend_is_kept_when_a_session_of_it_comes_up),
    UNIT(a_template_ends_when_there_is_no_backend_any_more),
    UNIT(records_name_the_backend_of_the_box),
    UNIT(uids_that_are_in_use_lead_to_no_other_backend),
    UNIT(tenants_get_no_backend_without_namespaces),
    {0},
};

int main(void)
{
    return unit_run("choice", tests);
}
