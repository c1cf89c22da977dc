/* SPDX-License-Identifier: MIT */
/* soak_group.c - a group of engines in the soak: each round has one, which is freed with calls
 * under way.
 *
 * Its processes may be killed like all others, and its calls are cancelled at any moment: any
 * verdict is right. But each call has to be reported once before laz_group_free returns, and
 * nothing of the group may be left in the pause. */
#include "soak.h"

#include <time.h>

#define ENGINES 2
#define PLACES  3
#define OPEN    12u /* calls under way, at most */

struct crew {
    struct soak *soak;
    struct laz_group *group;
    struct laz_group_pool *pool;
    const char *runtime;
    unsigned asked;
    atomic_uint told;
};

static void crew_told(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct crew *crew = user;

    if (!result == !err)
        soak_wrong(crew->soak, "group: a report has %s", result ? "both" : "neither");
    laz_result_free(result);
    atomic_fetch_add(&crew->soak->counts.executions, 1);
    atomic_fetch_add(&crew->told, 1);
}

static bool crew_begin(struct crew *crew)
{
    const struct laz_group_options options = {.size = sizeof options, .engines = ENGINES};
    const struct laz_pool_options places = {
        .size = sizeof places, .runtime = crew->runtime, .members = PLACES, .no_wait = 1};
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};

    int rc = soak_settings(&settings, &err);
    if (rc == 0)
        rc = laz_group_new(settings, &options, &crew->group, &err);
    if (rc == 0)
        rc = laz_group_pool_new(crew->group, &places, &crew->pool, &err);
    laz_settings_free(settings);
    if (rc)
        soak_wrong(crew->soak, "group: %s", err.text);
    return rc == 0;
}

/* One call that does not wait: of the pool, or in a session of its own. */
static void crew_ask(struct crew *crew, struct soak_dice *dice)
{
    static const uint64_t waits[] = {0, 20, LAZ_NO_LIMIT, LAZ_NO_LIMIT};
    static const char *const codes[] = {"1+1", "while true do end", "os.exit(3)", "1+1", "1+1"};
    const struct laz_execute_options options = {.size = sizeof options, .timeout_ms = 100};
    const struct laz_session_options own = {
        .size = sizeof own, .runtime = crew->runtime, .warm = soak_roll(dice, 2)};
    const char *code = codes[soak_roll(dice, sizeof codes / sizeof *codes)];
    struct laz_error err = {0};

    const int rc = soak_roll(dice, 3)
                       ? laz_group_pool_execute_async(crew->pool, waits[soak_roll(dice, 4)], code,
                                                      SIZE_MAX, &options, crew_told, crew, &err)
                       : laz_group_execute_async(crew->group, &own, code, SIZE_MAX, &options,
                                                 crew_told, crew, &err);
    crew->asked += rc == 0;
    if (rc && rc != LAZ_EBUSY)
        soak_wrong(crew->soak, "group: %s", err.text);
}

/* One call that waits. Nobody else cancels. */
static void crew_wait(struct crew *crew)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    const int rc =
        laz_group_pool_execute(crew->pool, LAZ_NO_LIMIT, "1+1", SIZE_MAX, NULL, &result, &err);
    if (rc ? rc != LAZ_ESETUP : !result)
        soak_wrong(crew->soak, "group: a call that waits: %s", err.text);
    laz_result_free(result);
    atomic_fetch_add(&crew->soak->counts.executions, 1);
}

void soak_group(struct soak *soak, struct soak_dice *dice)
{
    static const struct timespec moment = {0, 1000000};
    struct crew crew = {.soak = soak, .runtime = soak->runtimes[0]};

    const bool good = crew_begin(&crew);
    while (good && atomic_load(&soak->phase) == SOAK_PLAY) {
        const uint32_t what = soak_roll(dice, 40);
        if (what == 0) {
            laz_group_cancel(crew.group);
            atomic_fetch_add(&soak->counts.cancels, 1);
        } else if (what == 1) {
            crew_wait(&crew);
        } else if (crew.asked - atomic_load(&crew.told) < OPEN) {
            crew_ask(&crew, dice);
        } else {
            nanosleep(&moment, NULL); /* the engines work */
        }
    }
    if (soak_roll(dice, 2))
        laz_group_pool_free(crew.pool);
    laz_group_free(crew.group);
    if (atomic_load(&crew.told) != crew.asked)
        soak_wrong(soak, "group: %u calls, %u reports", crew.asked, atomic_load(&crew.told));
}
