/* SPDX-License-Identifier: MIT */
/* neighbour.c - how long the sessions of a crowd take while some of them attack, beside the same
 * crowd while none does.
 *
 * Each session has an engine and a thread of its own, and executes a tool call some fifty times a
 * second. Calm and attacked turns follow each other, so that a busy moment of the machine hits
 * both. A turn ends when every member that works has its samples, however long that takes. */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>

#define A_TURN      20    /* executions of one member */
#define PAUSE_US    20000 /* between two of them */
#define ATTACKERS   16    /* one of so many attacks */
#define ATTACK_MS   200   /* the most that one attack is given */
#define ATTACK_CODE 100

struct crowd {
    struct bench_point *point;
    pthread_barrier_t turn;
    atomic_int outcome;
    atomic_int working; /* members that are not done with this turn */
    int size, turns;
};

struct member {
    struct crowd *crowd;
    int number;
    pthread_t thread;
    struct bench_clock *clock;
    struct bench part;
    struct bench_samples values, floors; /* attacked, calm */
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
};

static bool member_is_attacker(const struct member *member)
{
    return member->number % ATTACKERS == 0;
}

static void member_work(struct member *member, struct laz_session *session, bool attacked)
{
    struct bench_samples *samples = attacked ? &member->values : &member->floors;

    for (int i = 0; i < A_TURN; i++) {
        double before = bench_now_us();
        if (!bench_execute(member->crowd->point, session, "return add(1, 2)"))
            atomic_store(&member->crowd->outcome, (int)BENCH_FAILED);
        samples->values[samples->n++] = bench_now_us() - before;
        bench_sleep_us(PAUSE_US);
    }
    atomic_fetch_sub(&member->crowd->working, 1);
}

static void member_attack(struct member *member, struct laz_session *session)
{
    const struct laz_execute_options options = {.size = sizeof options, .timeout_ms = ATTACK_MS};

    for (size_t i = 0; atomic_load(&member->crowd->working) > 0; i++) {
        struct laz_result *result = NULL;
        struct laz_error err = {0};
        const char *code = attacks[i % (sizeof attacks / sizeof *attacks)];
        if (laz_session_execute(session, code, SIZE_MAX, &options, &result, &err)) {
            bench_problem(member->crowd->point, "%s", err.text);
            atomic_store(&member->crowd->outcome, (int)BENCH_FAILED);
        }
        laz_result_free(result);
    }
}

static void *member_run(void *arg)
{
    struct member *member = arg;
    struct crowd *crowd = member->crowd;
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    int outcome = bench_engine(&member->part.engine, member->clock, 10, &err)
                      ? (int)bench_problem(crowd->point, "%s", err.text)
                      : (int)bench_open(&member->part, crowd->point, &session);
    if (outcome != BENCH_DONE)
        atomic_store(&crowd->outcome, outcome);
    for (int turn = 0; turn < 2 * crowd->turns; turn++) {
        if (pthread_barrier_wait(&crowd->turn) == PTHREAD_BARRIER_SERIAL_THREAD)
            atomic_store(&crowd->working, crowd->size - (crowd->size + ATTACKERS - 1) / ATTACKERS);
        pthread_barrier_wait(&crowd->turn);
        if (atomic_load(&crowd->outcome) != BENCH_DONE)
            break;
        if (!member_is_attacker(member))
            member_work(member, session, turn % 2 == 1);
        else if (turn % 2 == 1)
            member_attack(member, session);
    }
    laz_session_free(session);
    laz_engine_free(member->part.engine);
    return NULL;
}

static void member_init(struct member *member, struct crowd *crowd, int number)
{
    size_t room = (size_t)crowd->turns * A_TURN;

    member->crowd = crowd;
    member->number = number;
    member->clock = bench_clock_new(1);
    member->values.values = calloc(room, sizeof(double));
    member->floors.values = calloc(room, sizeof(double));
    if (!member->values.values || !member->floors.values)
        abort();
}

static void member_fini(struct member *member, struct bench_point *point)
{
    bench_take(point, &member->values, &member->floors);
    bench_clock_free(member->clock);
}

/* The attacks are Lua's. */
enum bench_outcome bench_neighbours(struct bench *bench, struct bench_point *point)
{
    int size = point->parameter;
    int works = size - (size + ATTACKERS - 1) / ATTACKERS;
    struct crowd crowd = {.point = point,
                          .size = size,
                          .turns = (point->wanted + works * A_TURN - 1) / (works * A_TURN)};
    struct laz_session *session;

    point->language = &bench_languages[0];
    enum bench_outcome outcome = bench_session(bench, point, &session); /* is it built? */
    if (outcome != BENCH_DONE)
        return outcome;
    struct member *members = calloc((size_t)size, sizeof *members);
    if (!members || pthread_barrier_init(&crowd.turn, NULL, (unsigned)size))
        abort();
    for (int i = 0; i < size; i++) {
        member_init(&members[i], &crowd, i);
        if (pthread_create(&members[i].thread, NULL, member_run, &members[i]))
            abort(); /* those that wait for it would wait for ever */
    }
    for (int i = 0; i < size; i++)
        pthread_join(members[i].thread, NULL);
    for (int i = 0; i < size; i++)
        member_fini(&members[i], point);
    pthread_barrier_destroy(&crowd.turn);
    free(members);
    return (enum bench_outcome)atomic_load(&crowd.outcome);
}
