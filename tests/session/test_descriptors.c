/* SPDX-License-Identifier: MIT */
/* test_descriptors.c - how many descriptors of the host a session holds, and what a host says that
 * has no more of them (RLIMIT_NOFILE, getrlimit(2)): that, and nothing about its sessions. */
#include "live.h"
#include "sight.h"
#include "traces.h"
#include "unit.h"

#include "base/buf.h"
#include "engine/engine.h"
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
    const char *words; /* its row in docs/deployment.md */
};

/* Channel, both outputs, the outermost process, the agent, the event of its control group; with
 * bubblewrap the first process inside, and what is reported of it. From a template those two are
 * the outermost process, and the agent is known by the report. */
static const struct row bubblewrap = {"sandbox.backend=bwrap", false, "a session in bwrap"};
static const struct row landlock = {"sandbox.backend=landlock", false, "a session in landlock"};
static const struct row template = {"sandbox.backend=bwrap;pool.warm=template", true,
                                    "a session from a template"};

static struct laz_buf told;

/* A number that docs/deployment.md promises: the first one of the row that begins with the words.
 */
static int documented(const char *words)
{
    const char *srcdir = getenv("srcdir");
    char *path = laz_strdupf("%s/docs/deployment.md", srcdir ? srcdir : "../..");
    char line[400], row[100];
    int number = -1;

    FILE *page = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(page);
    int len = snprintf(row, sizeof row, "| %s | ", words);
    while (number < 0 && fgets(line, sizeof line, page))
        if (strncmp(line, row, (size_t)len) == 0)
            number = atoi(line + len);
    (void)fclose(page);
    free(path);
    if (number < 0)
        printf("\n    docs/deployment.md has no row for %s", words);
    CU_ASSERT(number >= 0);
    return number;
}

/* What was counted is no more than the page says, and the page does not exaggerate: without control
 * groups, as an ordinary user, an engine needs a third of what it needs with a template and groups.
 */
static void compare_from(const char *words, int least, int counted)
{
    int promised = documented(words);

    printf("(%s: %d of %d) ", words, counted, promised);
    CU_ASSERT(counted <= promised && counted >= least);
}

static void compare(const char *words, int counted)
{
    compare_from(words, documented(words) / 4, counted);
}

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

/* What a start leaves open for a moment is closed when the session has run something, and when the
 * box in which the backend or a template was tried has ended. */
static void settle(struct laz_session *session)
{
    if (!session)
        return;
    struct laz_engine *engine = test_engine_of(session);
    test_expect(session, "return 1", LAZ_VERDICT_OK, "1");
    while (engine->boxes.leaving)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, UNIT_HANG_MS, NULL), 0);
}

static void costs(const struct row *row)
{
    int none = trace_descriptors();
    struct laz_engine *engine = test_engine(row->settings);
    struct laz_session *session = open_one(engine, row);
    settle(session);
    settle(session ? open_one(engine, row) : NULL); /* a template is ready by its second session */
    counters_give_up(); /* they do not add up: an eighth of all descriptors at most */
    int before = trace_descriptors();

    for (int i = 0; session && i < 3; i++)
        settle(open_one(engine, row));
    counters_give_up();
    int each = (trace_descriptors() - before) / 3;
    if (session) {
        if (each > documented(row->words))
            print_descriptors();
        compare(row->words, each);
        compare("an engine", before - none - 2 * each);
    }
    laz_engine_free(engine);
}

static void a_session_of_bubblewrap_holds_what_is_documented(void)
{
    costs(&bubblewrap);
}

static void a_session_of_landlock_holds_what_is_documented(void)
{
    costs(&landlock);
}

static void a_session_of_a_template_holds_what_is_documented(void)
{
    costs(&template);
}

/* Descriptors of this process that are not files of the kernel: those are counters. */
static int count_plain(void)
{
    FILE *list =
        popen("ls -l /proc/$PPID/fd | grep -v -e ' /proc/' -e ' /sys/' | grep -c -e '->'", "r");
    char line[32] = "";

    CU_ASSERT_FATAL(list && fgets(line, sizeof line, list));
    (void)pclose(list);
    return atoi(line) - 1; /* the pipe of popen */
}

/* The same, counted by a host command: its parent is the host. */
static void a_running_command_holds_what_is_documented(void)
{
    static const char tool[] = "[[tools]]\nprovider = \"command\"\n[[tools.tool]]\n"
                               "name = \"count\"\ndescription = \"counts\"\n"
                               "command = [\"/bin/sh\", \"-c\", \"ls -l /proc/$PPID/fd | "
                               "grep -v -e ' /proc/' -e ' /sys/' | grep -c -e '->'\"]\n"
                               "[session]\nstart_timeout = 600\n[sandbox]\nbackend = \"bwrap\"\n";
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    char path[] = "/tmp/descriptors-test-XXXXXX";
    int fd = mkstemp(path);

    CU_ASSERT_FATAL(fd >= 0 && write(fd, tool, sizeof tool - 1) == sizeof tool - 1);
    close(fd);
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_settings_load(settings, path, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_engine_new(settings, NULL, &engine, NULL), 0);
    struct laz_session *session = test_session(engine, "lua");
    struct laz_result *result =
        session ? test_run(session, "return tonumber(count())", NULL) : NULL;
    if (result) {
        int idle = count_plain();
        laz_result_free(result);
        result = test_run(session, "return tonumber(count())", NULL);
        const char *value = laz_result_value(result);
        CU_ASSERT_PTR_NOT_NULL_FATAL(value);
        /* its ends of the pipes are closed while it runs already */
        compare_from("a tool of the provider `command`", 2, atoi(value) - idle);
    }
    laz_result_free(result);
    laz_engine_free(engine);
    laz_settings_free(settings);
    (void)unlink(path);
}

/* All sessions start at once, or each has a running tool; the counters take their share, and the
 * application a hundred. */
static void the_documented_limits_suffice(void)
{
    static const char *const sessions[] = {"10", "100", "1000"};
    int engine = documented("an engine"), keeps = documented(bubblewrap.words);
    int starts_with = documented("a session that starts in a box of its own");
    int calls = keeps + documented("a tool of the provider `command`");

    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
        int limit = documented(sessions[i]);
        int counters = limit / 8 < COUNTERS_MOST ? limit / 8 : COUNTERS_MOST;
        int each = starts_with > calls ? starts_with : calls;
        int need = 100 + engine + counters + atoi(sessions[i]) * each;
        CU_ASSERT(need <= limit && limit < 2 * need);
    }
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
    if (first)
        compare(row->warm ? "a session that starts from a template"
                          : "a session that starts in a box of its own",
                (int)room - 3); /* the first room that sufficed */
    if (first) {                /* one that runs needs no more */
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
    UNIT(a_session_of_bubblewrap_holds_what_is_documented),
    UNIT(a_session_of_landlock_holds_what_is_documented),
    UNIT(a_session_of_a_template_holds_what_is_documented),
    UNIT(a_running_command_holds_what_is_documented),
    UNIT(the_documented_limits_suffice),
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
