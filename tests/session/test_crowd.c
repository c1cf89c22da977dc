/* SPDX-License-Identifier: MIT */
/* test_crowd.c - a hundred sessions at once, of which one attacks: the others answer as before.
 *
 * Each session has an engine and a thread of its own; all boxes are real, the agent is the mock.
 * Every session calls a tool some ten times a second. Calm and attacked phases take turns, so that
 * a busy moment of the machine hits both; the medians are compared, and the comparison is made
 * again when another load on the machine may have spoilt it. */
#include "session.h"
#include "traces.h"

#include "base/buf.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CROWD          100
#define CROWD_PHASES   6    /* calm and attacked in turn */
#define CROWD_PHASE_MS 1500 /* each */
#define CROWD_PACE_MS  100  /* between two executions of a session */
#define CROWD_TRIES    3
#define CROWD_ATTACKS  (TEST_IS_SANITIZED ? 1 : 10) /* at least */
#define CROWD_SAMPLES  4096                         /* of one session, of one kind */
#define ATTACK_MS      1000                         /* the most that one attack is given */

#define WORK                                                                                       \
    "send {\"type\":\"tool_call\",\"id\":1,\"tool\":\"add\",\"args\":{\"a\":2,\"b\":3}}\n"         \
    "recv\nok $last"

enum phase { PHASE_CALM, PHASE_ATTACK, PHASE_OVER };

struct crowd {
    pthread_barrier_t ready; /* all sessions are open */
    atomic_int phase;
    atomic_bool attacking; /* the attacker is at it */
    atomic_int attacks, failures;
};

struct member {
    struct crowd *crowd;
    unsigned number; /* 0 is the one that attacks */
    pthread_t thread;
    struct laz_engine *engine;
    size_t n[2];
    float us[2][CROWD_SAMPLES]; /* by phase */
};

static const char *const attacks[] = {
    "times 20000 {\"type\":\"tool_call\",\"id\":$i,\"tool\":\"nope\"}\nok 1",
    "times 20000 "
    "{\"type\":\"tool_call\",\"id\":$i,\"tool\":\"add\",\"args\":{\"a\":1,\"b\":2}}\nok 1",
    "storm 17 40\nok 1",
    "storm 19 40\nok 1",
    "fill 1073741824",
    "spill 1000000000\nwait",
    "spill 1000000000000\nok 1",
    "times 100000 {\"type\":\"dance\"}",
    "pad 1000000 {\"type\":\"result\",\"id\":77,\"value\":\"#\"}",
    "raw {\"type\":\"res\nwait",
    "hangup\nwait",
    "die 9",
};

static void member_pause(void)
{
    struct timespec pace = {0, CROWD_PACE_MS * 1000000L};

    nanosleep(&pace, NULL);
}

/* timeout_ms 0: as the settings say, which is long. */
static bool member_run(struct laz_session *session, const char *code, const char *value,
                       uint64_t timeout_ms)
{
    struct laz_execute_options options = {.size = sizeof options, .timeout_ms = timeout_ms};
    struct laz_result *result = NULL;
    struct laz_error err;

    int rc = laz_session_execute(session, code, SIZE_MAX, &options, &result, &err);
    bool good =
        rc == 0 &&
        (!value || (laz_result_value(result) && strcmp(laz_result_value(result), value) == 0));
    if (!good)
        printf("\n    %.40s: %s", code, rc ? err.text : laz_result_detail(result));
    laz_result_free(result);
    return good;
}

static void member_work(struct member *member, struct laz_session *session, int phase)
{
    uint64_t began = laz_clock_us();
    bool good = member_run(session, WORK, "{\"id\":1,\"value\":5}", 0);
    uint64_t took = laz_clock_us() - began;

    if (!good)
        atomic_fetch_add(&member->crowd->failures, 1);
    else if (atomic_load(&member->crowd->phase) == phase && member->n[phase] < CROWD_SAMPLES)
        member->us[phase][member->n[phase]++] = (float)took;
    member_pause();
}

/* One attack after the other; then the session works as any other. */
static void member_attack(struct member *member, struct laz_session *session)
{
    struct crowd *crowd = member->crowd;

    atomic_store(&crowd->attacking, true);
    for (size_t i = 0; atomic_load(&crowd->phase) == PHASE_ATTACK; i++) {
        const char *attack = attacks[i % (sizeof attacks / sizeof *attacks)];

        if (!member_run(session, attack, NULL, ATTACK_MS))
            atomic_fetch_add(&crowd->failures, 1);
        atomic_fetch_add(&crowd->attacks, 1);
    }
    if (!member_run(session, "ok 42", "42", 0))
        atomic_fetch_add(&crowd->failures, 1);
    atomic_store(&crowd->attacking, false);
}

static void *member_main(void *user)
{
    struct member *member = user;
    struct crowd *crowd = member->crowd;
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_session *session = NULL;
    struct laz_error err = {0};
    int phase;

    if (laz_session_open(member->engine, &options, &session, &err)) {
        printf("\n    member %u: %s", member->number, err.text);
        atomic_fetch_add(&crowd->failures, 1);
    }
    pthread_barrier_wait(&crowd->ready);
    while (session && (phase = atomic_load(&crowd->phase)) != PHASE_OVER) {
        if (phase == PHASE_ATTACK && member->number == 0)
            member_attack(member, session);
        else
            member_work(member, session, phase);
    }
    return NULL;
}

static int crowd_order(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return x < y ? -1 : x > y;
}

/* Of all but the one that attacks. */
static float crowd_median(const struct member *members, int phase, float share, size_t *n)
{
    float *all = malloc(CROWD * CROWD_SAMPLES * sizeof *all), median = 0;

    *n = 0;
    for (unsigned i = 1; all && i < CROWD; i++)
        for (size_t k = 0; k < members[i].n[phase]; k++)
            all[(*n)++] = members[i].us[phase][k];
    if (all && *n) {
        qsort(all, *n, sizeof *all, crowd_order);
        median = all[(size_t)((float)(*n - 1) * share)];
    }
    free(all);
    return median;
}

/* Waits for the attacker: it ends what it does within its timeout. */
static void crowd_calm_down(struct crowd *crowd)
{
    struct timespec moment = {0, 5000000};

    for (int i = 0; i < 4000 && atomic_load(&crowd->attacking); i++)
        nanosleep(&moment, NULL);
    CU_ASSERT_FALSE(atomic_load(&crowd->attacking));
}

static double crowd_ratio(struct crowd *crowd, struct member *members)
{
    struct timespec phase = {CROWD_PHASE_MS / 1000, CROWD_PHASE_MS % 1000 * 1000000L};
    size_t calm_n, attacked_n;

    for (unsigned i = 0; i < CROWD; i++)
        members[i].n[0] = members[i].n[1] = 0;
    for (int i = 0; i < CROWD_PHASES; i++) {
        atomic_store(&crowd->phase, i % 2 ? PHASE_ATTACK : PHASE_CALM);
        nanosleep(&phase, NULL); /* the time that is measured */
        if (i % 2) {
            atomic_store(&crowd->phase, PHASE_CALM);
            crowd_calm_down(crowd);
        }
    }
    float calm = crowd_median(members, PHASE_CALM, 0.5f, &calm_n);
    float attacked = crowd_median(members, PHASE_ATTACK, 0.5f, &attacked_n);
    float calm_99 = crowd_median(members, PHASE_CALM, 0.99f, &calm_n);
    float attacked_99 = crowd_median(members, PHASE_ATTACK, 0.99f, &attacked_n);
    printf(
        "\n    calm %.0f us (99%%: %.0f, %zu samples), attacked %.0f us (99%%: %.0f, %zu samples): "
        "ratio %.2f",
        calm, calm_99, calm_n, attacked, attacked_99, attacked_n, attacked / calm);
    CU_ASSERT(calm_n > 1000 && attacked_n > 1000);
    return calm > 0 ? attacked / calm : 1e9;
}

static void one_that_attacks_delays_no_other(void)
{
    struct member *members = calloc(CROWD, sizeof *members);
    struct crowd crowd = {.phase = PHASE_CALM};
    struct laz_engine *engine = test_engine("");
    struct laz_session *probe = test_session(engine, "lua");
    double ratio = 1e9;

    laz_engine_free(engine);
    if (!probe || !members) {
        free(members);
        return;
    }
    pthread_barrier_init(&crowd.ready, NULL, CROWD + 1);
    for (unsigned i = 0; i < CROWD; i++) {
        members[i].crowd = &crowd;
        members[i].number = i;
        members[i].engine = test_engine("session.start_timeout=120");
        CU_ASSERT_FATAL(members[i].engine != NULL);
        CU_ASSERT_FATAL(!pthread_create(&members[i].thread, NULL, member_main, &members[i]));
    }
    pthread_barrier_wait(&crowd.ready);
    for (int i = 0; i < CROWD_TRIES && (ratio > 2 || atomic_load(&crowd.attacks) < CROWD_ATTACKS);
         i++) {
        double now = crowd_ratio(&crowd, members);
        ratio = now < ratio ? now : ratio;
    }
    atomic_store(&crowd.phase, PHASE_OVER);
    for (unsigned i = 0; i < CROWD; i++)
        pthread_join(members[i].thread, NULL);
    printf("\n    %d attacks ", atomic_load(&crowd.attacks));
    CU_ASSERT(atomic_load(&crowd.attacks) >= CROWD_ATTACKS);
    CU_ASSERT_EQUAL(atomic_load(&crowd.failures), 0);
    CU_ASSERT(TEST_IS_SANITIZED || ratio <= 2);
    for (unsigned i = 0; i < CROWD; i++)
        laz_engine_free(members[i].engine);
    CU_ASSERT_EQUAL(trace_children(), 0);
    pthread_barrier_destroy(&crowd.ready);
    free(members);
}

static const struct unit_test tests[] = {UNIT(one_that_attacks_delays_no_other), {0}};

int main(void)
{
    test_mock_agent();
    return unit_run("crowd", tests);
}
