/* SPDX-License-Identifier: MIT */
/* groups.c - what a group of engines does in a second, and how much of that passes one loop's
 * thread.
 *
 * The sessions of a row are spread evenly over its engines, and each begins its next execution as
 * soon as the previous one is answered. The floor is the same work in a group of one engine: both
 * are kept, and measured in turn. */
#include "bench.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>

#define SESSIONS   64
#define EXECUTIONS 50  /* of each session in a sample */
#define CALLS      100 /* the same, of a tool */
#define ENGINES    8   /* of a row, at most */

struct crew;

struct crew_member {
    struct crew *crew;
    struct laz_session *session;
    int left; /* executions until it rests */
};

/* A group with its sessions. */
struct crew {
    struct bench_point *point;
    struct laz_group *group;
    int engines, n;
    struct crew_member members[SESSIONS];
    const char *code;
    pthread_mutex_t lock; /* of the next two */
    pthread_cond_t rests;
    int working;
    atomic_bool failed;
    uint64_t cpu_us[ENGINES]; /* of the threads, in the last sample */
};

/* ---- work ------------------------------------------------------------------------------------ */

static void member_rests(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    if (--crew->working == 0)
        pthread_cond_signal(&crew->rests);
    pthread_mutex_unlock(&crew->lock);
}

static void member_done(void *user, struct laz_result *result, const struct laz_error *err);

static void member_next(struct crew_member *member)
{
    struct crew *crew = member->crew;
    struct laz_error err = {0};

    if (!member->left-- || atomic_load(&crew->failed)) {
        member_rests(crew);
    } else if (laz_session_execute_async(member->session, crew->code, SIZE_MAX, NULL, member_done,
                                         member, &err)) {
        atomic_store(&crew->failed, true);
        bench_problem(crew->point, "%s", err.text);
        member_rests(crew);
    }
}

static void member_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct crew_member *member = user;
    struct crew *crew = member->crew;

    if (!result || laz_result_verdict(result) != LAZ_VERDICT_OK) {
        atomic_store(&crew->failed, true);
        bench_problem(crew->point, "%s", result ? laz_result_detail(result) : err->text);
    }
    laz_result_free(result);
    member_next(member);
}

/* What is done on the thread of one engine. */
struct crew_visit {
    struct crew *crew;
    int place;
};

static void visit_opens(void *user, struct laz_engine *engine)
{
    struct crew_visit *visit = user;
    struct crew *crew = visit->crew;
    struct laz_error err = {0};

    for (int i = visit->place; i < crew->n; i += crew->engines)
        if (bench_open_warm(engine, crew->point->language->name, &crew->members[i].session, &err)) {
            atomic_store(&crew->failed, true);
            bench_problem(crew->point, "%s", err.text);
            return;
        }
}

static void visit_begins(void *user, struct laz_engine *engine)
{
    struct crew_visit *visit = user;
    struct crew *crew = visit->crew;

    (void)engine;
    crew->cpu_us[visit->place] = laz_clock_thread_us();
    for (int i = visit->place; i < crew->n; i += crew->engines)
        member_next(&crew->members[i]);
}

static void visit_ends(void *user, struct laz_engine *engine)
{
    struct crew_visit *visit = user;

    (void)engine;
    visit->crew->cpu_us[visit->place] = laz_clock_thread_us() - visit->crew->cpu_us[visit->place];
}

static bool crew_visit(struct crew *crew, void (*run)(void *user, struct laz_engine *engine))
{
    struct laz_error err = {0};

    for (int place = 0; place < crew->engines; place++) {
        struct crew_visit visit = {crew, place};
        if (laz_group_run(crew->group, place, run, &visit, &err) < 0) {
            bench_problem(crew->point, "%s", err.text);
            return false;
        }
    }
    return !atomic_load(&crew->failed);
}

/* All sessions work; microseconds until all rest, or 0. */
static double crew_work(struct crew *crew, const char *code, int times)
{
    crew->code = code;
    crew->working = crew->n;
    for (int i = 0; i < crew->n; i++)
        crew->members[i].left = times;
    double before = bench_now_us();
    if (!crew_visit(crew, visit_begins))
        return 0;
    pthread_mutex_lock(&crew->lock);
    while (crew->working)
        pthread_cond_wait(&crew->rests, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
    double took = bench_now_us() - before;
    return crew_visit(crew, visit_ends) ? took : 0;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void crew_end(struct crew *crew)
{
    laz_group_free(crew->group); /* and its sessions */
    pthread_cond_destroy(&crew->rests);
    pthread_mutex_destroy(&crew->lock);
}

/* Its sessions have started, and executed once. */
static bool crew_begin(struct crew *crew, struct bench_point *point, int engines, int sessions)
{
    struct laz_error err = {0};

    memset(crew, 0, sizeof *crew);
    crew->point = point;
    crew->engines = engines;
    crew->n = sessions;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->rests, NULL);
    for (int i = 0; i < sessions; i++)
        crew->members[i] = (struct crew_member){.crew = crew};
    if (bench_group(&crew->group, (unsigned)engines, &err)) {
        bench_problem(point, "%s", err.text);
        return false;
    }
    return crew_visit(crew, visit_opens) && crew_work(crew, "1+1", 1) > 0;
}

enum group_what { GROUP_EXECUTE, GROUP_CALL, GROUP_THREAD };

/* One sample; 0: it failed. */
static double group_sample(struct crew *crew, enum group_what what, int times, const char *calls)
{
    const double took =
        what == GROUP_CALL ? crew_work(crew, calls, 1) : crew_work(crew, "1+1", times);
    const double all = (double)crew->n * times;
    uint64_t most = 0;

    if (took <= 0)
        return 0;
    if (what != GROUP_THREAD)
        return all / took * 1e6;
    for (int i = 0; i < crew->engines; i++)
        most = crew->cpu_us[i] > most ? crew->cpu_us[i] : most;
    return (double)most / all;
}

static enum bench_outcome group_measure(struct bench *bench, struct bench_point *point,
                                        enum group_what what)
{
    static struct crew crew, one;
    const int engines = point->parameter, sessions = bench->quick ? 4 : SESSIONS;
    const int times = bench->quick ? 2 : what == GROUP_CALL ? CALLS : EXECUTIONS;
    struct laz_session *kept;
    char calls[128];

    enum bench_outcome outcome =
        bench_any_session(bench, point, &kept); /* fails if none is built */
    if (outcome != BENCH_DONE)
        return outcome;
    bench_code(point->language->calls, 0, times, calls, sizeof calls);
    bool good = crew_begin(&crew, point, engines, sessions);
    bool compared = good && engines > 1;
    if (compared)
        good = crew_begin(&one, point, 1, sessions);
    while (good && !bench_is_full(point)) {
        const double floor = compared ? group_sample(&one, what, times, calls) : 0;
        const double value = group_sample(&crew, what, times, calls);
        good = value > 0 && (floor > 0 || !compared);
        bench_add(point, value);
        bench_add_floor(point, floor);
    }
    crew_end(&crew);
    if (compared)
        crew_end(&one);
    return good ? BENCH_DONE : BENCH_FAILED;
}

enum bench_outcome bench_group_executes(struct bench *bench, struct bench_point *point)
{
    return group_measure(bench, point, GROUP_EXECUTE);
}

enum bench_outcome bench_group_calls(struct bench *bench, struct bench_point *point)
{
    return group_measure(bench, point, GROUP_CALL);
}

enum bench_outcome bench_group_thread(struct bench *bench, struct bench_point *point)
{
    return group_measure(bench, point, GROUP_THREAD);
}
