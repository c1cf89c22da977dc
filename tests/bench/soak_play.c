/* SPDX-License-Identifier: MIT */
/* soak_play.c - a player of the soak: opens sessions, executes in them, restarts and closes them.
 *
 * The result of an execution is known unless it was disturbed. Then any verdict is right, but there
 * has to be one, and the session has to be usable or closed afterwards. */
#include "soak.h"

#include <time.h>

#define PATIENCE_S 60 /* no execution takes longer, even if disturbed */

#ifdef LAZ_SANITIZE
#define MEMORY "unlimited" /* sanitizers need much memory */
#else
#define MEMORY "192MiB"
#endif

static const struct {
    const char *key, *value;
} settings_table[] = {
    {"session.timeout", "10"},
    {"session.deadline", "20"},
    {"session.max_output_size", "16KiB"},
    {"session.start_timeout", "20"}, /* shorter than a pause may take */
    {"limits.memory", MEMORY},
    {"pool.renew_after", "20"},
};

/* ---- tools ----------------------------------------------------------------------------------- */

static void tool_add(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct soak_player *player = user;
    char text[256], answer[32];
    int a = 0, b = 0;

    atomic_fetch_add(&player->calls, 1);
    atomic_fetch_add(&player->soak->counts.calls, 1);
    snprintf(text, sizeof text, "%.*s", (int)len, args);
    if (sscanf(text, "{\"a\":%d,\"b\":%d}", &a, &b) != 2)
        soak_wrong(player->soak, "add: %s", text);
    snprintf(answer, sizeof answer, "%d", a + b);
    laz_reply_value(reply, answer, strlen(answer));
}

static void tool_fail(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_error(reply, "it fails");
}

static void tool_slow(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct timespec some = {0, 30000000};

    (void)user, (void)args, (void)len;
    nanosleep(&some, NULL); /* the work of the tool */
    laz_reply_value(reply, "true", 4);
}

static const struct {
    const char *name, *parameters;
    void (*call)(void *user, const char *args, size_t args_len, struct laz_reply *reply);
} tools[] = {
    {"add", "[{\"name\":\"a\",\"type\":\"integer\"},{\"name\":\"b\",\"type\":\"integer\"}]",
     tool_add},
    {"fail", NULL, tool_fail},
    {"slow", "[{\"name\":\"ms\",\"type\":\"integer\"}]", tool_slow},
};

/* ---- engine ---------------------------------------------------------------------------------- */

int soak_settings(struct laz_settings **settings, struct laz_error *err)
{
    int rc = laz_settings_new(settings, err);

    for (size_t i = 0; rc == 0 && i < sizeof settings_table / sizeof *settings_table; i++)
        rc = laz_settings_set(*settings, settings_table[i].key, settings_table[i].value, err);
    return rc;
}

bool soak_player_init(struct soak_player *player, struct soak *soak, unsigned number, uint64_t seed)
{
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};

    player->soak = soak;
    player->number = number;
    for (int i = 0; i < SOAK_SLOTS; i++)
        player->slots[i].player = player;
    player->dice.state = seed + number * 1000003u;
    int rc = soak_settings(&settings, &err);
    if (rc == 0)
        rc = laz_engine_new(settings, NULL, &player->engine, &err);
    for (size_t i = 0; rc == 0 && i < sizeof tools / sizeof *tools; i++) {
        struct laz_tool tool = {.size = sizeof tool,
                                .name = tools[i].name,
                                .description = "",
                                .parameters = tools[i].parameters};
        rc = laz_engine_add_tool(player->engine, &tool, tools[i].call, player, &err);
    }
    laz_settings_free(settings);
    if (rc)
        soak_wrong(soak, "engine: %s", err.text);
    return rc == 0;
}

void soak_player_fini(struct soak_player *player)
{
    laz_engine_free(player->engine);
    player->engine = NULL;
}

/* ---- sessions -------------------------------------------------------------------------------- */

void soak_publish(struct soak_slot *slot)
{
    int64_t pid = slot->session ? laz_session_pid(slot->session) : -1;

    if (pid <= 0)
        pid = 0;
    if (pid != atomic_load(&slot->pid)) /* a new process: the villain does not know its id yet */
        atomic_store(&slot->begun, pid ? soak_begun(pid) : 0);
    atomic_store(&slot->pid, pid);
}

static void slot_close(struct soak_slot *slot)
{
    atomic_store(&slot->pid, 0);
    laz_session_free(slot->session);
    slot->session = NULL;
}

bool soak_is_calm(const struct soak_slot *slot)
{
    return slot->seen % 2 == 0 && slot->seen == atomic_load(&slot->disturbed) &&
           slot->engine_seen % 2 == 0 && slot->engine_seen == atomic_load(&slot->player->disturbed);
}

uint64_t soak_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool slot_is_shaken(const struct soak_slot *slot, uint64_t at_ms)
{
    return at_ms < atomic_load(&slot->player->soak->shaken_ms) + SOAK_SHAKEN_MS;
}

void soak_see(struct soak_slot *slot)
{
    atomic_store(&slot->struck_ms, 0); /* the signal was for an earlier process */
    slot->seen = slot->seen_before = atomic_load(&slot->disturbed);
    slot->engine_seen = slot->engine_seen_before = atomic_load(&slot->player->disturbed);
    if (slot_is_shaken(slot, soak_now_ms()))
        slot->engine_seen = 1; /* odd: never calm */
}

/* A killed process ends only when it is scheduled, and others of its box continue until then: a
 * session that worked within this time may still end. */
#define STRUCK_MS 5000

void soak_has_worked(struct soak_slot *slot, uint64_t began_ms)
{
    if (slot_is_shaken(slot, began_ms) || began_ms < atomic_load(&slot->struck_ms) + STRUCK_MS)
        return;
    slot->seen = slot->seen_before;
    slot->engine_seen = slot->engine_seen_before;
}

static void slot_open(struct soak_player *player, struct soak_slot *slot)
{
    struct soak *soak = player->soak;
    struct laz_session_options options = {.size = sizeof options,
                                          .warm = soak_roll(&player->dice, 2)};
    struct laz_error err = {0};

    slot->runtime = soak->runtimes[soak_roll(&player->dice, soak->n_runtimes)];
    options.runtime = slot->runtime;
    soak_see(slot);
    if (laz_session_open(player->engine, &options, &slot->session, &err) == 0)
        atomic_fetch_add(&soak->counts.sessions, 1);
    else if (soak_is_calm(slot))
        soak_wrong(soak, "open %s: %s", slot->runtime, err.text);
    soak_publish(slot);
}

static void slot_restart(struct soak_player *player, struct soak_slot *slot)
{
    struct laz_error err = {0};

    atomic_store(&slot->pid, 0);
    soak_see(slot);
    if (laz_session_restart(slot->session, &err) == 0)
        atomic_fetch_add(&player->soak->counts.sessions, 1);
    else if (soak_is_calm(slot))
        soak_wrong(player->soak, "restart %s: %s", slot->runtime, err.text);
    soak_publish(slot);
}

/* Checks the result of an undisturbed execution; of a disturbed one, only that it ended. */
static void slot_judge(struct soak_player *player, struct soak_slot *slot,
                       const struct soak_act *act, const struct laz_result *result, bool calm)
{
    char why[1024];

    if (calm) {
        if (!soak_is_right(act, result, atomic_load(&player->calls), why, sizeof why))
            soak_wrong(player->soak, "%s: %s", slot->runtime, why);
        return;
    }
    atomic_fetch_add(&player->soak->counts.disturbed, 1);
}

static void slot_execute(struct soak_player *player, struct soak_slot *slot)
{
    const struct soak_act *act = soak_choose(&player->dice);
    struct laz_execute_options options = {.size = sizeof options,
                                          .timeout_ms = act->timeout_ms,
                                          .max_tool_calls = act->max_tool_calls};
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    slot->seen_before = atomic_load(&slot->disturbed);
    slot->engine_seen_before = atomic_load(&player->disturbed);
    slot->began_ms = soak_now_ms();
    atomic_store(&player->calls, 0);
    int rc = laz_session_execute(slot->session, soak_code(act, slot->runtime), SIZE_MAX, &options,
                                 &result, &err);
    atomic_fetch_add(&player->soak->counts.executions, 1);
    bool calm = soak_is_calm(slot);
    if (soak_now_ms() - slot->began_ms > PATIENCE_S * 1000)
        soak_wrong(player->soak, "%s: %s took more than %d s", slot->runtime, act->name,
                   PATIENCE_S);
    if (rc == 0)
        slot_judge(player, slot, act, result, calm);
    else if (calm || rc != LAZ_ECLOSED)
        soak_wrong(player->soak, "%s: %s: %s", slot->runtime, act->name, err.text);
    if (rc || !laz_session_is_alive(slot->session)) {
        slot_close(slot);
    } else if (laz_result_verdict(result) == LAZ_VERDICT_OK) {
        soak_has_worked(slot, slot->began_ms);
    }
    laz_result_free(result);
    if (slot->session)
        soak_publish(slot);
}

/* Opens a session for one execution. */
static void play_once(struct soak_player *player)
{
    struct soak_slot slot = {.player = player};
    struct laz_session_options options = {.size = sizeof options};
    struct laz_result *result = NULL;
    struct laz_error err = {0};
    struct soak_act sum = {.name = "once", .value = "2"};
    char why[1024];

    options.runtime = player->soak->runtimes[soak_roll(&player->dice, player->soak->n_runtimes)];
    options.warm = soak_roll(&player->dice, 2);
    soak_see(&slot);
    int rc = laz_execute(player->engine, &options, "1+1", SIZE_MAX, NULL, &result, &err);
    if (rc)
        soak_wrong(player->soak, "once: %s", err.text);
    else if (!soak_is_right(&sum, result, 0, why, sizeof why) && soak_is_calm(&slot))
        soak_wrong(player->soak, "%s: %s", options.runtime, why);
    atomic_fetch_add(&player->soak->counts.executions, 1);
    laz_result_free(result);
}

void soak_use_templates(struct soak_player *player)
{
    const struct soak *soak = player->soak;

    for (unsigned i = 0; i < soak->n_runtimes; i++) {
        struct laz_session_options options = {
            .size = sizeof options, .runtime = soak->runtimes[i], .warm = 1};
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        if (i > 0 && strcmp(soak->runtimes[i], soak->runtimes[i - 1]) == 0)
            continue;
        if (laz_session_open(player->engine, &options, &session,
                             &err)) /* tries again, for a while */
            fprintf(stderr, "    at rest: %s: %s\n", soak->runtimes[i], err.text);
        laz_session_free(session);
    }
}

void soak_play(struct soak_player *player)
{
    while (atomic_load(&player->soak->phase) == SOAK_PLAY) {
        struct soak_slot *slot = &player->slots[soak_roll(&player->dice, SOAK_SLOTS)];
        uint32_t what = soak_roll(&player->dice, 100);
        if (!slot->session)
            slot_open(player, slot);
        else if (what < 3)
            slot_close(slot);
        else if (what < 5)
            slot_restart(player, slot);
        else if (what < 7)
            play_once(player);
        else
            slot_execute(player, slot);
    }
    for (int i = 0; i < SOAK_SLOTS; i++)
        slot_close(&player->slots[i]);
}
