/* SPDX-License-Identifier: MIT */
/* world.h - for tests: what there is to be attacked, and sessions to attack it from.
 *
 * The host's side of a probe: files with a secret, listeners, a victim process, shared memory, a
 * key.  All of it is made for the test, readable and usable by any user, so that only the sandbox
 * can be what keeps an attack away.  A probe names them as @canary@, @tcp4@, @victim@, ... */
#ifndef LAZ_TESTS_WORLD_H
#define LAZ_TESTS_WORLD_H

#include <lazaret/lazaret.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WORLD_TEMPLATE "template" /* in place of a backend: bwrap, and sessions from a template */
#define WORLD_SECRET "LAZ_TEST_SECRET" /* a variable of the host's, and its value */

/* False when it cannot be made, with a line on stdout. */
bool world_make(void);
void world_end(void);
/* Something of the world by its name; NULL. */
const char *world_get(const char *name);
void world_set(const char *name, const char *value);
/* `text` with every @name@ replaced. Static memory, good until the second call after this one. */
const char *world_fill(const char *text);

/* A session of one language in one backend, with a victim process of the same user. */
struct arena {
    struct laz_engine *engine;
    struct laz_session *session;
    bool is_warm; /* from a template */
    uint32_t uid; /* of the session on the host; LAZ_SPAWN_SAME_ID: the test's own */
    pid_t victim;
};

/* `settings` as test_engine takes them, over "sandbox.backend=BACKEND". False: not to be had; then
 * it was said and counted. */
bool arena_open(struct arena *arena, const char *backend, const char *runtime,
                const char *settings);
/* The same up to the session, which the caller opens. */
bool arena_engine(struct arena *arena, const char *backend, const char *settings);
void arena_close(struct arena *arena);
/* The folder of its box on the host. */
const char *arena_folder(const struct arena *arena);
/* The victim is there, unhurt, with `@victim@` naming it. */
bool arena_victim(struct arena *arena);
/* Fills in and executes; the value when it is text, else the verdict and the error. Static memory,
 * good until the second call after this one. */
const char *arena_try(struct arena *arena, const char *code);
/* The attack in a process of the test's own, without any sandbox. */
const char *arena_bare(struct arena *arena, const char *line);
/* Is the word one of "EPERM|ENOENT"? */
bool arena_is_one_of(const char *word, const char *list);

#endif
