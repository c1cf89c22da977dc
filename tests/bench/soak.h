/* SPDX-License-Identifier: MIT */
/* soak.h - what the parts of the soak share: what sessions do, and the expected results. */
#ifndef LAZ_TESTS_SOAK_H
#define LAZ_TESTS_SOAK_H

#include <lazaret/lazaret.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A random generator; each thread has its own. */
struct soak_dice {
    uint64_t state;
};

uint32_t soak_roll(struct soak_dice *dice, uint32_t sides); /* 0 to sides - 1 */

/* Something that code does, in each language. */
struct soak_act {
    const char *name;
    unsigned weight; /* relative frequency */
    const char *lua, *python, *r;
    const char *value;        /* expected in the result; NULL: any */
    enum laz_verdict verdict; /* expected unless disturbed */
    uint64_t timeout_ms;      /* 0: the engine's */
    uint64_t max_tool_calls;  /* 0: no limit */
    unsigned calls;           /* of add(), exactly, unless disturbed */
};

const struct soak_act *soak_choose(struct soak_dice *dice);
const char *soak_code(const struct soak_act *act, const char *runtime);
/* Is the result the expected one? If not, reports why. `calls`: the calls of add() that the host
 * saw. */
bool soak_is_right(const struct soak_act *act, const struct laz_result *result, unsigned calls,
                   char *why, size_t size);

/* ---- players: a thread with an engine and some sessions ---------------------------------------
 */

#define SOAK_SLOTS 4

/* The villain counts before and after each of its actions, so an odd number means that one is in
 * progress. */
struct soak_slot {
    struct soak_player *player;
    const struct soak_act *act;               /* soak_async.c: the running act, or NULL */
    uint64_t began_ms;                        /* start of the execution */
    unsigned seen_before, engine_seen_before; /* their values once an execution has worked */
    struct laz_session *session;              /* used by the player's thread only */
    const char *runtime;
    _Atomic int64_t pid;        /* of the box, for the villain; 0: there is none */
    _Atomic int64_t begun;      /* when that process began, as from soak_begun */
    _Atomic uint64_t struck_ms; /* when a process in the box was last signalled */
    atomic_uint disturbed;
    /* Values of `disturbed`, the slot's and the player's, at which the session was known to work:
     * effects of a disturbance may show late. */
    unsigned seen, engine_seen;
};

struct soak_counts {
    atomic_ulong executions, disturbed, sessions, calls, kills, spared, shakes, cancels, wrong;
};

struct soak_player {
    struct soak *soak;
    unsigned number;
    struct soak_dice dice;
    struct laz_engine *engine;
    struct soak_slot slots[SOAK_SLOTS];
    atomic_uint disturbed; /* counts disturbances of the whole engine */
    atomic_uint calls;     /* of add() in the running execution */
};

enum soak_phase { SOAK_PLAY, SOAK_REST, SOAK_END };

struct soak {
    atomic_int phase;
    struct soak_player *players;
    unsigned n_players;
    const char *runtimes[8]; /* those built, repeated according to their frequency */
    unsigned n_runtimes;
    atomic_ulong shaken_ms; /* when a process was killed on which several sessions may depend */
    struct soak_counts counts;
};

#define SOAK_SHAKEN_MS 1000 /* the effects of a kill are over after this time */

int soak_settings(struct laz_settings **settings, struct laz_error *err); /* of all engines */
bool soak_player_init(struct soak_player *player, struct soak *soak, unsigned number,
                      uint64_t seed);
void soak_player_fini(struct soak_player *player);
/* Plays while the phase is SOAK_PLAY, and returns with all sessions closed. */
void soak_play(struct soak_player *player);
void soak_play_async(struct soak_player *player);
/* Opens and closes a session of each runtime from a template, so that all templates exist. */
void soak_use_templates(struct soak_player *player);
/* True when no disturbance of the session or its engine can still have effects. */
bool soak_is_calm(const struct soak_slot *slot);
/* Takes the present counts as known: only later disturbances matter, unless one is in progress. */
void soak_see(struct soak_slot *slot);
/* An execution begun at `began_ms` worked, so disturbances before it have no more effects. */
void soak_has_worked(struct soak_slot *slot, uint64_t began_ms);
uint64_t soak_now_ms(void);
/* Publishes the session's process for the villain. */
void soak_publish(struct soak_slot *slot);
/* soak_group.c: makes a group of engines, uses it until the phase changes, and frees it. */
void soak_group(struct soak *soak, struct soak_dice *dice);
/* Disturbs sessions now and then, until the phase changes. */
void soak_disturb(struct soak *soak, struct soak_dice *dice);
/* When a process began, in ticks since boot (proc(5)); 0: it has ended. Together with the process
 * id it identifies a process. */
int64_t soak_begun(int64_t pid);
/* Prints "soak: WHAT" on standard error and counts it. */
void soak_wrong(struct soak *soak, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
