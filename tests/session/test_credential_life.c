/* SPDX-License-Identifier: MIT */
/* test_credential_life.c - lazaret-proxy that is killed or cannot be started: which sessions go on,
 * who gets another one, and that nothing of it is left. */
#include "live.h"

#include "credential/credential_private.h"
#include "engine/engine.h"
#include "os/directories.h"
#include "os/files.h"
#include "session/session.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANGUAGE "lua"

static struct laz_engine *engine;
static struct laz_credentials *credentials;

static bool begin(void)
{
    engine =
        test_engine("sandbox.backend=bwrap;network.allow=[\"https://api.example.com\"];"
                    "network.credential=[{host = \"api.example.com\", header = \"A: {secret}\", "
                    "secret = {env = \"LAZ_TEST_SECRET\"}}]");
    credentials = engine ? engine->sessions.credentials : NULL;
    return credentials;
}

static bool has_trust(unsigned number)
{
    struct laz_look look;
    char *path = laz_strdupf("%s/trust-%u/bundle.pem", engine->directory, number);
    const bool has = path && laz_os_look(path, true, &look) == 0;

    free(path);
    return has;
}

static unsigned count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned n = 0;

    while (directory && readdir(directory))
        n++;
    if (directory)
        closedir(directory);
    return n;
}

/* Kills the proxy, and waits until the session knows. */
static void kill_proxy(const struct laz_session *session)
{
    CU_ASSERT_FATAL(credentials->runs && credentials->process.pid > 0);
    CU_ASSERT_EQUAL(kill((pid_t)credentials->process.pid, SIGKILL), 0);
    while (!laz_session_is_stale(session))
        laz_engine_step(engine, 100, NULL);
}

static void the_next_session_has_another_proxy(void)
{
    struct laz_session *first = begin() ? test_session(engine, LANGUAGE) : NULL, *second, *third;

    if (first) {
        CU_ASSERT(!laz_session_is_stale(first));
        CU_ASSERT(has_trust(1));
        kill_proxy(first);
        test_expect(first, "return 40 + 2", LAZ_VERDICT_OK, "42"); /* without its credentials */
        second = test_session(engine, LANGUAGE);
        CU_ASSERT(!laz_session_is_stale(second));
        CU_ASSERT(laz_session_is_stale(first));
        test_expect(second, "return 40 + 2", LAZ_VERDICT_OK, "42");
        CU_ASSERT(has_trust(1) && has_trust(2)); /* the first one's box shows it */
        laz_session_free(first);
        kill_proxy(second);
        third = test_session(engine, LANGUAGE);
        CU_ASSERT(!laz_session_is_stale(third));
        CU_ASSERT(!has_trust(1) && has_trust(2) && has_trust(3));
        laz_session_free(second);
        laz_session_free(third);
    }
    laz_engine_free(engine);
}

static void a_session_that_is_started_again_has_its_credentials(void)
{
    struct laz_session *session = begin() ? test_session(engine, LANGUAGE) : NULL;

    if (session) {
        kill_proxy(session);
        CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
        CU_ASSERT(!laz_session_is_stale(session));
        CU_ASSERT(credentials->runs);
        laz_session_free(session);
    }
    laz_engine_free(engine);
}

static void a_pool_replaces_what_nobody_has(void)
{
    const struct laz_pool_options options = {
        .size = sizeof options, .runtime = LANGUAGE, .members = 2};
    struct laz_pool *pool = NULL;
    struct laz_session *held = NULL, *got = NULL;
    const int rc = begin() ? laz_pool_new(engine, &options, &pool, NULL) : LAZ_ENOENT;

    CU_ASSERT(!rc || rc == LAZ_ENOENT);
    if (!rc) {
        CU_ASSERT_EQUAL_FATAL(laz_pool_acquire(pool, LAZ_NO_LIMIT, &held, NULL), 0);
        CU_ASSERT(!laz_session_is_stale(held));
        kill_proxy(held);
        CU_ASSERT_EQUAL_FATAL(laz_pool_acquire(pool, LAZ_NO_LIMIT, &got, NULL), 0);
        CU_ASSERT(!laz_session_is_stale(got));
        CU_ASSERT(laz_session_is_stale(held)); /* which its caller keeps */
        test_expect(held, "return 40 + 2", LAZ_VERDICT_OK, "42");
        CU_ASSERT_EQUAL(laz_pool_release(pool, held, NULL), 0);
        CU_ASSERT_EQUAL(laz_pool_release(pool, got, NULL), 0);
    }
    laz_pool_free(pool);
    laz_engine_free(engine);
}

static void proxies_that_were_killed_leave_nothing(void)
{
    unsigned before = 0;

    if (begin())
        for (unsigned round = 0; round < 3; round++) {
            struct laz_session *session = test_session(engine, LANGUAGE);
            if (!session)
                break;
            kill_proxy(session);
            laz_session_free(session);
            if (round == 1)
                before = count_descriptors();
            if (round == 2)
                CU_ASSERT_EQUAL(count_descriptors(), before);
            CU_ASSERT_EQUAL(credentials->process.pid, (int64_t)LAZ_PROCESS_INIT.pid);
        }
    laz_engine_free(engine);
}

/* Where its directory cannot be made the session says so, and the next one has one. */
static void a_proxy_that_does_not_start_is_tried_again(void)
{
    const struct laz_session_options options = {.size = sizeof options, .runtime = LANGUAGE};
    struct laz_session *session = NULL;
    struct laz_error err = {0};
    char *path = begin() ? laz_strdupf("%s/trust-1", engine->directory) : NULL;

    if (path) {
        CU_ASSERT_EQUAL_FATAL(laz_os_write_file(path, "", 0, 0600, NULL), 0);
        const int rc = laz_session_open(engine, &options, &session, &err);
        CU_ASSERT(rc != 0);
        CU_ASSERT(rc == LAZ_ENOENT || strstr(err.text, "trust-1"));
        session = rc == LAZ_ENOENT ? NULL : test_session(engine, LANGUAGE);
        CU_ASSERT(rc == LAZ_ENOENT || has_trust(2));
        laz_session_free(session);
    }
    free(path);
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(the_next_session_has_another_proxy),
    UNIT(a_session_that_is_started_again_has_its_credentials),
    UNIT(a_pool_replaces_what_nobody_has),
    UNIT(proxies_that_were_killed_leave_nothing),
    UNIT(a_proxy_that_does_not_start_is_tried_again),
    {0},
};

int main(void)
{
    setenv("LAZ_TEST_SECRET", "a-secret-of-the-test", 1);
    return unit_run("credential_life", tests);
}
