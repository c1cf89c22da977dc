/* SPDX-License-Identifier: MIT */
/* soak_async.c - a player of the soak whose sessions execute at the same time, on one loop.
 *
 * Each execution ends with one call of `slot_done`, whatever happens meanwhile: it may be
 * cancelled, its session closed or killed, another session freed from a callback. */
#include "soak.h"

static void slot_close_async(struct soak_slot *slot)
{
    struct laz_session *session = slot->session;

    atomic_store(&slot->pid, 0);
    slot->session = NULL;
    laz_session_free(session); /* ends its execution first, so slot_done is called from here */
}

static void slot_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct soak_slot *slot = user;
    struct soak *soak = slot->player->soak;
    char why[1024];

    if (!slot->act)
        soak_wrong(soak, "an execution ended twice");
    else if (result && soak_is_calm(slot) && slot->session &&
             !soak_is_right(slot->act, result, slot->act->calls, why, sizeof why))
        soak_wrong(soak, "%s, one of many: %s", slot->runtime, why);
    else if (!result && (soak_is_calm(slot) || err->code != LAZ_ECLOSED))
        soak_wrong(soak, "%s, one of many: %s: %s", slot->runtime, slot->act->name, err->text);
    if (!soak_is_calm(slot))
        atomic_fetch_add(&soak->counts.disturbed, 1);
    if (result && laz_result_verdict(result) == LAZ_VERDICT_OK) {
        soak_has_worked(slot, slot->began_ms);
    }
    slot->act = NULL;
    atomic_fetch_add(&soak->counts.executions, 1);
    laz_result_free(result);
    if (slot->session && soak_roll(&slot->player->dice, 20) == 0)
        slot_close_async(slot);
}

static void slot_begin(struct soak_player *player, struct soak_slot *slot)
{
    const struct soak_act *act = soak_choose(&player->dice);
    struct laz_execute_options options = {.size = sizeof options,
                                          .timeout_ms = act->timeout_ms,
                                          .max_tool_calls = act->max_tool_calls};
    struct laz_error err = {0};

    slot->seen_before = atomic_load(&slot->disturbed);
    slot->engine_seen_before = atomic_load(&player->disturbed);
    slot->began_ms = soak_now_ms();
    slot->act = act;
    int rc = laz_session_execute_async(slot->session, soak_code(act, slot->runtime), SIZE_MAX,
                                       &options, slot_done, slot, &err);
    if (rc == 0)
        return;
    slot->act = NULL;
    if (rc != LAZ_ECLOSED || soak_is_calm(slot))
        soak_wrong(player->soak, "%s, one of many: %s: %s", slot->runtime, act->name, err.text);
    slot_close_async(slot);
}

static void slot_open_async(struct soak_player *player, struct soak_slot *slot)
{
    struct soak *soak = player->soak;
    struct laz_session_options options = {.size = sizeof options,
                                          .no_wait = soak_roll(&player->dice, 2),
                                          .warm = soak_roll(&player->dice, 2)};
    struct laz_error err = {0};

    slot->runtime = soak->runtimes[soak_roll(&player->dice, soak->n_runtimes)];
    options.runtime = slot->runtime;
    soak_see(slot);
    if (laz_session_open(player->engine, &options, &slot->session, &err) == 0)
        atomic_fetch_add(&soak->counts.sessions, 1);
    else if (soak_is_calm(slot))
        soak_wrong(soak, "open %s, one of many: %s", slot->runtime, err.text);
}

/* The player itself may disturb a session that executes. */
static void slot_act(struct soak_player *player, struct soak_slot *slot)
{
    uint32_t what = soak_roll(&player->dice, 100);

    if (!slot->session) {
        slot_open_async(player, slot);
    } else if (!slot->act) {
        slot_begin(player, slot);
    } else if (what < 3) {
        atomic_fetch_add(&slot->disturbed, 2);
        laz_session_cancel(slot->session);
    } else if (what < 5) {
        slot_close_async(slot);
    }
    if (slot->session)
        soak_publish(slot);
}

static unsigned player_busy(const struct soak_player *player)
{
    unsigned busy = 0;

    for (int i = 0; i < SOAK_SLOTS; i++)
        busy += player->slots[i].act != NULL;
    return busy;
}

void soak_play_async(struct soak_player *player)
{
    struct laz_error err = {0};

    while (atomic_load(&player->soak->phase) == SOAK_PLAY) {
        slot_act(player, &player->slots[soak_roll(&player->dice, SOAK_SLOTS)]);
        if (laz_engine_step(player->engine, soak_roll(&player->dice, 10), &err))
            soak_wrong(player->soak, "step: %s", err.text);
    }
    for (int i = 0; i < SOAK_SLOTS; i++)
        if (player->slots[i].session && soak_roll(&player->dice, 2))
            slot_close_async(&player->slots[i]);
    while (player_busy(player) > 0)
        if (laz_engine_step(player->engine, -1, &err))
            soak_wrong(player->soak, "step: %s", err.text);
    for (int i = 0; i < SOAK_SLOTS; i++)
        if (player->slots[i].session)
            slot_close_async(&player->slots[i]);
}
