/* SPDX-License-Identifier: MIT */
/* test_guest.c - the library is a guest: it leaves the application's process as it was.
 *
 * Signals, locale, environment, working directory, descriptors, processes and threads are compared
 * before and after, in a host that has signal handlers, ignores SIGCHLD, and has a decimal
 * comma. */
#include "live.h"
#include "traces.h"

#include "base/buf.h"

#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void my_handler(int number)
{
    (void)number;
}

struct picture {
    struct sigaction actions[32];
    sigset_t mask;
    char locale[256], directory[4096];
    struct laz_buf environment;
    int descriptors, threads, children;
};

static void take_picture(struct picture *picture)
{
    memset(picture, 0, sizeof *picture);
    for (int i = 1; i < 32; i++)
        sigaction(i, NULL, &picture->actions[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &picture->mask);
    snprintf(picture->locale, sizeof picture->locale, "%s", setlocale(LC_ALL, NULL));
    if (!getcwd(picture->directory, sizeof picture->directory))
        picture->directory[0] = '\0';
    for (char **at = environ; *at; at++)
        laz_buf_printf(&picture->environment, "%s\n", *at);
    picture->descriptors = trace_descriptors();
    picture->threads = trace_threads();
    picture->children = trace_children();
}

static void compare_pictures(struct picture *a, struct picture *b)
{
    for (int i = 1; i < 32; i++) {
        CU_ASSERT_EQUAL(a->actions[i].sa_handler, b->actions[i].sa_handler);
        CU_ASSERT_EQUAL(a->actions[i].sa_flags, b->actions[i].sa_flags);
    }
    for (int i = 1; i < 32; i++)
        CU_ASSERT_EQUAL(sigismember(&a->mask, i), sigismember(&b->mask, i));
    UNIT_TEXT(b->locale, a->locale);
    UNIT_TEXT(b->directory, a->directory);
    UNIT_TEXT(laz_buf_text(&b->environment), laz_buf_text(&a->environment));
    CU_ASSERT_EQUAL(a->descriptors, b->descriptors);
    CU_ASSERT_EQUAL(a->threads, b->threads);
    CU_ASSERT_EQUAL(a->children, b->children);
    laz_buf_fini(&a->environment);
    laz_buf_fini(&b->environment);
}

static void use_everything(const char *settings)
{
    struct laz_execute_options options = {.size = sizeof options, .timeout_ms = 300};
    struct laz_engine *engine = test_engine(settings);
    struct laz_session *session = test_session(engine, "lua");
    char directory[300];

    trace_directory(directory, sizeof directory);
    CU_ASSERT(*directory && access(directory, F_OK) == 0);
    if (session) {
        test_expect(session, "add(2, 0.5)", LAZ_VERDICT_OK, "2.5");
        laz_result_free(test_run(session, "os.execute('sleep 3000')", &options));
        test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
        test_expect(session, "os.exit(1)", LAZ_VERDICT_ERROR, NULL);
        laz_session_restart(session, NULL);
        test_expect(session, "0.5", LAZ_VERDICT_OK, "0.5");
    }
    laz_session_free(session);
    laz_engine_free(engine);
    CU_ASSERT_NOT_EQUAL(access(directory, F_OK), 0);
}

static void an_application_finds_its_own_as_it_was(void)
{
    struct sigaction mine = {.sa_handler = my_handler};
    struct picture before, after;

    use_everything(""); /* lets the C library make what it keeps */
    sigaction(SIGUSR1, &mine, NULL);
    sigaction(SIGALRM, &mine, NULL);
    signal(SIGPIPE, SIG_DFL);
    take_picture(&before);
    use_everything("");
    take_picture(&after);
    compare_pictures(&before, &after);
}

static void a_host_that_ignores_its_children_is_served_too(void)
{
    struct sigaction old;
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    sigaction(SIGCHLD, &ignore, &old);
    use_everything("");
    sigaction(SIGCHLD, &old, NULL);
}

static void a_dead_agent_raises_no_sigpipe(void)
{
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = test_session(engine, "lua");

    signal(SIGPIPE, SIG_DFL); /* a write to a closed peer would end this process */
    if (session) {
        kill((pid_t)laz_session_pid(session), SIGKILL);
        struct laz_result *result = NULL;
        laz_session_execute(session, "1", 1, NULL, &result, NULL);
        laz_result_free(result);
        laz_session_restart(session, NULL);
        test_expect(session, "1", LAZ_VERDICT_OK, "1");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

/* Bytes that were allocated and not freed; 0 where the C library does not count them. */
static long allocated(void)
{
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();

    return (long)(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

#define GUEST_FIRST 40 /* sessions before the first part: buffers grow once */
#define GUEST_PARTS 3

/* 100 sessions suffice: a leak of each shows in every part of those after the first 40. A buffer
 * that grows once, a thread that begins, and what another thread has for a moment show in one or
 * two. */
static void many_sessions_leave_nothing(void)
{
    const char *text = getenv("TEST_SESSIONS");
    int most = text ? atoi(text) : getenv("LAZARET_TEST_FULL") ? 1000 : 100;
    struct laz_engine *engine = test_engine("");
    const int part = (most - GUEST_FIRST) / GUEST_PARTS;
    long before = 0, least = LONG_MAX;
    int opened = 0, descriptors = 0;

    for (int i = 0; engine && i < most; i++) {
        struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        if (laz_session_open(engine, &options, &session, &err)) {
            printf("\n    session %d: %s", i, err.text);
            break;
        }
        opened++;
        laz_session_close(session);
        laz_session_free(session);
        if (opened == GUEST_FIRST)
            descriptors = trace_descriptors();
        if (opened < GUEST_FIRST || (opened - GUEST_FIRST) % part)
            continue;
        const long now = allocated();
        if (opened > GUEST_FIRST && now - before < least)
            least = now - before;
        before = now;
    }
    CU_ASSERT_EQUAL(opened, most);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
    CU_ASSERT_EQUAL(trace_children(), 0);
    printf("\n    %d sessions, at least %ld bytes grown by each %d\n    ", opened, least, part);
    CU_ASSERT(least < part * 400);
    laz_engine_free(engine);
}

static void engines_of_two_threads_are_independent(void)
{
    struct laz_engine *one = test_engine(""), *two = test_engine("");
    struct laz_session *a = test_session(one, "lua"), *b = test_session(two, "lua");

    test_expect(a, "x = 1", LAZ_VERDICT_OK, NULL);
    test_expect(b, "x == nil", LAZ_VERDICT_OK, "true");
    laz_engine_free(two); /* frees b */
    test_expect(a, "x", LAZ_VERDICT_OK, "1");
    laz_engine_free(one);
}

static const struct unit_test tests[] = {
    UNIT(an_application_finds_its_own_as_it_was),
    UNIT(a_host_that_ignores_its_children_is_served_too),
    UNIT(a_dead_agent_raises_no_sigpipe),
    UNIT(many_sessions_leave_nothing),
    UNIT(engines_of_two_threads_are_independent),
    {0},
};

int main(void)
{
    return unit_run("guest", tests);
}
