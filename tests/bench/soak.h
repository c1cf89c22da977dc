/* SPDX-License-Identifier: MIT */
/* soak.h - what the parts of the soak share: what sessions are asked to do, and what has to come of
 * it. */
#ifndef LAZ_TESTS_SOAK_H
#define LAZ_TESTS_SOAK_H

#include <lazaret/lazaret.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers from a seed: each thread has its own. */
struct soak_dice {
    uint64_t state;
};

uint32_t soak_roll(struct soak_dice *dice, uint32_t sides); /* 0 to sides - 1 */

/* One thing that code does, in each language. */
struct soak_act {
    const char *name;
    unsigned weight; /* how often, among all */
    const char *lua, *python, *r;
    const char *value;        /* of the result; NULL: any */
    enum laz_verdict verdict; /* when nobody disturbs */
    uint64_t timeout_ms;      /* 0: the engine's */
    uint64_t max_tool_calls;  /* 0: no limit */
    unsigned calls;           /* of add(), exactly, when nobody disturbs */
};

const struct soak_act *soak_choose(struct soak_dice *dice);
const char *soak_code(const struct soak_act *act, const char *runtime);
/* Is a result what the act has to come to? Else says why. `calls`: of add() that the host saw. */
bool soak_is_right(const struct soak_act *act, const struct laz_result *result, unsigned calls,
                   char *why, size_t size);

/* ---- players: a thread with an engine and some sessions ---------------------------------------
 */

#define SOAK_SLOTS 4

/* What the villain does is counted before and after: an odd number means that it is at it. */
struct soak_slot {
    struct soak_player *player;
    const struct soak_act *act;               /* soak_async.c: what it executes, or NULL */
    uint64_t began_ms;                        /* its execution */
    unsigned seen_before, engine_seen_before; /* what becomes of the next two when it worked */
    struct laz_session *session;              /* of the player's thread alone */
    const char *runtime;
    _Atomic int64_t pid;        /* of the box, for the villain; 0: there is none */
    _Atomic int64_t begun;      /* when it was, as soak_begun tells */
    _Atomic uint64_t struck_ms; /* when something in the box was signalled last */
    atomic_uint disturbed;
    /* Values of `disturbed`, the slot's and the player's, at which the session was well: it may be
     * a while until what was done to it shows. */
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
    atomic_uint disturbed; /* the whole engine, as that of a slot */
    atomic_uint calls;     /* of add() in the present execution */
};

enum soak_phase { SOAK_PLAY, SOAK_REST, SOAK_END };

struct soak {
    atomic_int phase;
    struct soak_player *players;
    unsigned n_players;
    const char *runtimes[8]; /* that are built; as often as they are to be chosen */
    unsigned n_runtimes;
    atomic_ulong shaken_ms; /* when something was killed that several sessions may depend on */
    struct soak_counts counts;
};

#define SOAK_SHAKEN_MS 1000 /* until then a kill has come to its end */

bool soak_player_init(struct soak_player *player, struct soak *soak, unsigned number,
                      uint64_t seed);
void soak_player_fini(struct soak_player *player);
/* Plays while the phase is SOAK_PLAY, and returns with all sessions closed. */
void soak_play(struct soak_player *player);
void soak_play_async(struct soak_player *player);
/* A session of each runtime from a template, closed again: then all templates are there. */
void soak_use_templates(struct soak_player *player);
/* Has nothing been done to the session, or to its engine, that may not be over and done with? */
bool soak_is_calm(const struct soak_slot *slot);
/* From here on, what is done to it counts; what was done before is over, or it is not calm. */
void soak_see(struct soak_slot *slot);
/* It has worked: what was done to it before that began, at `began_ms`, is over and done with. */
void soak_has_worked(struct soak_slot *slot, uint64_t began_ms);
uint64_t soak_now_ms(void);
/* Its process, for the villain. */
void soak_publish(struct soak_slot *slot);
/* Disturbs somebody now and then, until the phase changes. */
void soak_disturb(struct soak *soak, struct soak_dice *dice);
/* When a process began, in ticks since the system did (proc(5)); 0: it is gone. With its number it
 * is that process and no other. */
int64_t soak_begun(int64_t pid);
/* "soak: WHAT" on standard error, counted. */
void soak_wrong(struct soak *soak, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
