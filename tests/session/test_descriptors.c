/* SPDX-License-Identifier: MIT */
/* test_descriptors.c - how many descriptors of the host a session holds, and what a host says that
 * has no more of them (RLIMIT_NOFILE, getrlimit(2)): that, and nothing about its sessions. */
#include "live.h"
#include "sight.h"
#include "traces.h"
#include "unit.h"

#include "base/buf.h"
#include "os/linux/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ROOM_MOST 64 /* descriptors that are enough for any start */

struct row {
    const char *settings;
    bool warm;
    int most; /* descriptors of one session */
};

/* Channel, both outputs, the outermost process, the agent, the event of its control group; with
 * bubblewrap the first process inside, and what is reported of it. From a template those two are
 * the outermost process, and the agent is known by the report. */
static const struct row bubblewrap = {"sandbox.backend=bwrap", false, 8};
static const struct row landlock = {"sandbox.backend=landlock", false, 6};
static const struct row template = {"sandbox.backend=bwrap;pool.warm=template", true, 6};

static struct laz_buf told;

static struct laz_session *open_one(struct laz_engine *engine, const struct row *row)
{
    return row->warm ? test_warm_session(engine, "lua") : test_session(engine, "lua");
}

static void print_descriptors(void)
{
    for (int fd = 0; fd < 100; fd++) {
        char path[64], target[200];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n > 0)
            printf("\n    %d %.*s", fd, (int)n, target);
    }
}

static void costs(const struct row *row)
{
    int none = trace_descriptors();
    struct laz_engine *engine = test_engine(row->settings);
    struct laz_session *session = open_one(engine, row);
    counters_give_up(); /* they do not add up: an eighth of all descriptors at most */
    int before = trace_descriptors();

    for (int i = 0; session && i < 3; i++)
        open_one(engine, row);
    counters_give_up();
    int each = (trace_descriptors() - before) / 3;
    if (each > row->most)
        print_descriptors();
    printf("(%d, and %d of the engine) ", each, before - none - each);
    CU_ASSERT(!session || (each > 3 && each <= row->most));
    laz_engine_free(engine);
}

static void a_session_of_bubblewrap_holds_eight(void)
{
    costs(&bubblewrap);
}

static void a_session_of_landlock_holds_six(void)
{
    costs(&landlock);
}

static void a_session_of_a_template_holds_six(void)
{
    costs(&template);
}

/* ---- none left ------------------------------------------------------------------------------ */

/* Lets this process open so many more descriptors. */
static void leave_room(unsigned room, struct rlimit *before)
{
    struct rlimit limit;
    int fd = 0;

    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, before), 0);
    for (unsigned free = 0; free < room; fd++)
        free += fcntl(fd, F_GETFD) < 0;
    limit = *before;
    limit.rlim_cur = (rlim_t)fd;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Neither the error nor the log says that a session did wrong, or that something cannot be had. */
static void nobody_is_accused(const char *text)
{
    if (sight_accuses(text))
        printf("\n    %.2000s", text);
    CU_ASSERT_FALSE(sight_accuses(text));
}

static bool runs(struct laz_session *session)
{
    struct laz_result *result = test_run(session, "return add(2, 3)", NULL);
    bool good = result && laz_result_verdict(result) == LAZ_VERDICT_OK;

    if (result && !good)
        printf("\n    %.400s", laz_result_json(result));
    laz_result_free(result);
    return good;
}

/* Starts a session with so much room. True: it came. */
static bool start_with(struct laz_engine *engine, const struct row *row, unsigned room)
{
    struct laz_session_options options = {
        .size = sizeof options, .runtime = "lua", .warm = row->warm};
    struct laz_session *session = NULL;
    struct laz_error err = {0};
    struct rlimit before;

    leave_room(room, &before);
    int rc = laz_session_open(engine, &options, &session, &err);
    setrlimit(RLIMIT_NOFILE, &before);
    if (!rc) {
        CU_ASSERT(runs(session));
        laz_session_free(session);
        return true;
    }
    if (!strstr(err.text, "RLIMIT_NOFILE"))
        printf("\n    with room for %u: %s", room, err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "RLIMIT_NOFILE"));
    CU_ASSERT(err.os_errno == EMFILE || err.os_errno == ETOOMANYREFS);
    nobody_is_accused(err.text);
    return false;
}

static void starts(const struct row *row)
{
    struct rlimit before;
    unsigned room = 0, came = 0;

    test_told = &told;
    struct laz_engine *engine = test_engine(row->settings);
    struct laz_session *first = open_one(engine, row);
    for (; first && came < 3 && room < ROOM_MOST; room++)
        came += start_with(engine, row, room);
    CU_ASSERT(!first || (came == 3 && room > 6));
    if (first) { /* one that runs needs no more */
        leave_room(0, &before);
        bool good = runs(first);
        setrlimit(RLIMIT_NOFILE, &before);
        CU_ASSERT(good);
    }
    laz_engine_free(engine);
    nobody_is_accused(laz_buf_text(&told));
    laz_buf_fini(&told);
    test_told = NULL;
}

static void a_start_without_descriptors_names_the_limit(void)
{
    starts(&bubblewrap);
}

static void a_start_without_descriptors_names_the_limit_in_landlock(void)
{
    starts(&landlock);
}

static void a_start_without_descriptors_names_the_limit_of_a_template(void)
{
    starts(&template);
}

static void an_engine_without_descriptors_names_the_limit(void)
{
    unsigned room = 0;

    for (bool came = false; !came && room < ROOM_MOST; room++) {
        struct laz_engine *engine = NULL;
        struct laz_error err = {0};
        struct rlimit before;
        leave_room(room, &before);
        came = laz_engine_new(NULL, NULL, &engine, &err) == 0;
        setrlimit(RLIMIT_NOFILE, &before);
        laz_engine_free(engine);
        if (!came && !strstr(err.text, "RLIMIT_NOFILE"))
            printf("\n    with room for %u: %s", room, err.text);
        CU_ASSERT(came || strstr(err.text, "RLIMIT_NOFILE"));
    }
    CU_ASSERT(room > 6 && room < ROOM_MOST);
}

/* Members start together, and meet the limit wherever they are by then. */
static void a_pool_that_is_too_large_accuses_nobody(void)
{
    struct laz_pool_options options = {.size = sizeof options, .runtime = "lua", .members = 16};
    struct laz_result *result = NULL;
    struct laz_pool *pool = NULL;
    struct laz_error err = {0};
    struct rlimit before;

    test_told = &told;
    struct laz_engine *engine = test_engine("pool.warm=auto");
    struct laz_session *first = test_session(engine, "lua"); /* skips, without Lua */
    if (first) {
        leave_room(70, &before);
        int rc = laz_pool_new(engine, &options, &pool, &err);
        for (int i = 0; !rc && i < 20; i++) {
            rc = laz_pool_execute(pool, LAZ_NO_LIMIT, "return 1", SIZE_MAX, NULL, &result, &err);
            CU_ASSERT(rc || laz_result_verdict(result) == LAZ_VERDICT_OK);
            laz_result_free(result);
            result = NULL;
        }
        setrlimit(RLIMIT_NOFILE, &before);
        CU_ASSERT_PTR_NOT_NULL(strstr(rc ? err.text : laz_buf_text(&told), "RLIMIT_NOFILE"));
        laz_pool_free(pool);
    }
    laz_engine_free(engine);
    nobody_is_accused(laz_buf_text(&told));
    laz_buf_fini(&told);
    test_told = NULL;
}

static const struct unit_test tests[] = {
    UNIT(a_session_of_bubblewrap_holds_eight),
    UNIT(a_session_of_landlock_holds_six),
    UNIT(a_session_of_a_template_holds_six),
    UNIT(a_start_without_descriptors_names_the_limit),
    UNIT(a_start_without_descriptors_names_the_limit_in_landlock),
    UNIT(a_start_without_descriptors_names_the_limit_of_a_template),
    UNIT(an_engine_without_descriptors_names_the_limit),
    UNIT(a_pool_that_is_too_large_accuses_nobody),
    {0},
};

int main(void)
{
    return unit_run("descriptors", tests);
}
