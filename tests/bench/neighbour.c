/* SPDX-License-Identifier: MIT */
/* neighbour.c - execution times of many sessions while some of them attack, compared with the same
 * sessions while none does.
 *
 * All are sessions of one engine, on one loop. Each working session executes a tool call, pauses or
 * not, and executes the next; the time until the loop begins it counts too. Calm turns and turns
 * with attacks alternate, so that a busy moment of the machine affects both. */
#include "bench.h"

#include <math.h>
#include <poll.h>

#define A_TURN      100 /* executions of one member */
#define ATTACKERS   16  /* one of this many sessions attacks */
#define ATTACK_MS   200 /* time limit of one attack */
#define ATTACK_CODE 100

struct crowd {
    struct bench_point *point;
    struct laz_engine *engine;
    struct bench_samples values, floors; /* with attacks, without */
    struct member *members;
    enum bench_outcome outcome;
    bool attacked; /* in this turn */
    int size;
    double rest_us; /* pause of a member between two executions */
    int working;    /* members that have not finished this turn */
    int busy;       /* running executions */
};

struct member {
    struct crowd *crowd;
    struct laz_session *session;
    size_t attack; /* index of its next attack */
    int left;      /* executions in this turn */
    double due_us; /* of the next execution or the running one */
    bool busy;
};

static const char attacks[][ATTACK_CODE] = {
    "while true do print(('x'):rep(1000)) end",
    "while true do pcall(add, 1, 2) end",
    "while true do pcall(add, 'x', 2) end",
    "for i = 1, 1000 do take(('x'):rep(900000)) end",
    "while true do local t = {} for i = 1, 100000 do t[i] = i end end",
    "return ('x'):rep(3000000)",
    "os.execute('kill -KILL $PPID') while true do end",
    "for i = 1, 100 do os.execute('true') end",
    "local t = {} for i = 1, 50000 do t['k' .. i] = i end pcall(take, t)",
    "os.execute('f() { f | f & }; f') while true do end",
    "for i = 1, 1e5 do io.open('/tmp/' .. i, 'w'):close() end os.execute('kill -KILL $PPID')",
};

#define ATTACKS (sizeof attacks / sizeof *attacks)

static bool member_is_attacker(const struct member *member)
{
    return (member - member->crowd->members) % ATTACKERS == 0;
}

static void member_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct member *member = user;
    struct crowd *crowd = member->crowd;
    struct bench_samples *samples = crowd->attacked ? &crowd->values : &crowd->floors;

    member->busy = false;
    crowd->busy--;
    if (!result || (!member_is_attacker(member) && laz_result_verdict(result) != LAZ_VERDICT_OK))
        crowd->outcome =
            bench_problem(crowd->point, "%s", result ? laz_result_detail(result) : err->text);
    laz_result_free(result);
    if (member_is_attacker(member))
        return;
    double now = bench_now_us();
    samples->values[samples->n++] = now - member->due_us;
    member->due_us = now + crowd->rest_us;
    if (--member->left == 0)
        crowd->working--;
}

static void member_begin(struct member *member)
{
    const struct laz_execute_options attack = {.size = sizeof attack, .timeout_ms = ATTACK_MS};
    struct crowd *crowd = member->crowd;
    bool attacks_now = member_is_attacker(member);
    struct laz_error err = {0};

    if (laz_session_execute_async(
            member->session, attacks_now ? attacks[member->attack++ % ATTACKS] : "return add(1, 2)",
            SIZE_MAX, attacks_now ? &attack : NULL, member_done, member, &err)) {
        crowd->outcome = bench_problem(crowd->point, "%s", err.text);
        return;
    }
    member->busy = true;
    crowd->busy++;
}

/* Begins the executions that are due; returns when the next one is, at most a tenth of a second
 * from now. */
static double crowd_begin(struct crowd *crowd)
{
    double now = bench_now_us(), next = now + 1e5;

    for (int i = 0; i < crowd->size && crowd->outcome == BENCH_DONE; i++) {
        struct member *member = &crowd->members[i];
        if (member->busy || (member_is_attacker(member) ? !crowd->attacked : member->left == 0))
            continue;
        if (member_is_attacker(member) || member->due_us <= now)
            member_begin(member);
        else if (member->due_us < next)
            next = member->due_us;
    }
    return next;
}

/* Drives the engine until that time at most; milliseconds would be too coarse. */
static void crowd_drive(struct crowd *crowd, double until_us)
{
    int64_t timeout_ms = laz_engine_timeout(crowd->engine);
    struct pollfd engine = {.fd = laz_engine_fd(crowd->engine), .events = POLLIN};
    double wait_us = until_us - bench_now_us();
    struct laz_error err = {0};

    if (timeout_ms >= 0 && wait_us > (double)timeout_ms * 1000)
        wait_us = (double)timeout_ms * 1000;
    if (wait_us < 0)
        wait_us = 0;
    (void)ppoll(&engine, 1,
                &(struct timespec){(time_t)(wait_us / 1e6), (long)(fmod(wait_us, 1e6) * 1000)},
                NULL);
    if (laz_engine_step(crowd->engine, 0, &err))
        crowd->outcome = bench_problem(crowd->point, "%s", err.text);
}

static void crowd_turn(struct crowd *crowd, bool attacked)
{
    double begin = bench_now_us();

    crowd->attacked = attacked;
    for (int i = 0; i < crowd->size; i++) {
        struct member *member = &crowd->members[i];
        if (member_is_attacker(member))
            continue;
        member->left = A_TURN;
        member->due_us = begin + i * crowd->rest_us / crowd->size;
        crowd->working++;
    }
    while (crowd->working > 0 && crowd->outcome == BENCH_DONE)
        crowd_drive(crowd, crowd_begin(crowd));
    while (crowd->busy > 0 && crowd->outcome == BENCH_DONE)
        crowd_drive(crowd, bench_now_us() + 1e5);
}

static void crowd_init(struct crowd *crowd, struct bench_point *point, int turns)
{
    size_t room = (size_t)crowd->size * (size_t)turns * A_TURN;

    crowd->point = point;
    crowd->members = calloc((size_t)crowd->size, sizeof *crowd->members);
    crowd->values.values = calloc(room, sizeof(double));
    crowd->floors.values = calloc(room, sizeof(double));
    if (!crowd->members || !crowd->values.values || !crowd->floors.values)
        abort();
}

static void crowd_fini(struct crowd *crowd)
{
    for (int i = 0; i < crowd->size; i++)
        laz_session_free(crowd->members[i].session);
    laz_engine_free(crowd->engine);
    free(crowd->members);
    bench_take(crowd->point, &crowd->values, &crowd->floors);
}

/* The attacks are written in Lua. */
static enum bench_outcome crowd_measure(struct bench *bench, struct bench_point *point,
                                        double rest_us)
{
    struct crowd crowd = {.size = point->parameter, .rest_us = rest_us};
    int works = crowd.size - (crowd.size + ATTACKERS - 1) / ATTACKERS;
    int turns = (point->wanted + works * A_TURN - 1) / (works * A_TURN);
    struct bench own = {0};
    struct laz_session *session;
    struct laz_error err = {0};

    point->language = &bench_languages[0];
    crowd.outcome = bench_session(bench, point, &session); /* fails when Lua is not built */
    if (crowd.outcome != BENCH_DONE)
        return crowd.outcome;
    crowd_init(&crowd, point, turns);
    if (bench_engine(&own.engine, bench->clock, crowd.size, &err))
        crowd.outcome = bench_problem(point, "%s", err.text);
    crowd.engine = own.engine;
    for (int i = 0; i < crowd.size && crowd.outcome == BENCH_DONE; i++) {
        crowd.members[i].crowd = &crowd;
        crowd.members[i].attack = (size_t)i; /* each begins with a different attack */
        crowd.outcome = bench_open(&own, point, &crowd.members[i].session);
    }
    for (int turn = 0; turn < 2 * turns && crowd.outcome == BENCH_DONE; turn++)
        crowd_turn(&crowd, turn % 2 == 1);
    crowd_fini(&crowd);
    return crowd.outcome;
}

enum bench_outcome bench_neighbours(struct bench *bench, struct bench_point *point)
{
    return crowd_measure(bench, point, 0);
}

enum bench_outcome bench_neighbours_at_rest(struct bench *bench, struct bench_point *point)
{
    return crowd_measure(bench, point, 20000);
}
