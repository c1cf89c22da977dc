/* SPDX-License-Identifier: MIT */
/* world.h - for tests: targets of attacks, and sessions to attack them from.
 *
 * The host's side of a probe: files with a secret, listeners, a victim process, shared memory, a
 * key. All of it is made for the test, readable and usable by any user, so that only the sandbox
 * can stop an attack. A probe names them as @canary@, @tcp4@, @victim@, ... */
#ifndef LAZ_TESTS_WORLD_H
#define LAZ_TESTS_WORLD_H

#include <lazaret/lazaret.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WORLD_TEMPLATE                                                                             \
    "template"                         /* as the name of a backend: bwrap with sessions from a     \
                                          template */
#define WORLD_SECRET "LAZ_TEST_SECRET" /* a variable of the host, and its value */

/* False when it cannot be created, with a line on stdout. */
bool world_make(void);
void world_end(void);
/* A target by its name; NULL: unknown. */
const char *world_get(const char *name);
void world_set(const char *name, const char *value);
/* `text` with every @name@ replaced. Static memory, valid until the second call after this one. */
const char *world_fill(const char *text);

/* A session of one language in one backend, with a victim process of the same user. */
struct arena {
    struct laz_engine *engine;
    struct laz_session *session;
    bool is_warm; /* from a template */
    uint32_t uid; /* uid of the session on the host; LAZ_SPAWN_SAME_ID: the test's own */
    pid_t victim;
};

/* `settings` as for test_engine, added to "sandbox.backend=BACKEND". False: not available; that has
 * been reported and counted. */
bool arena_open(struct arena *arena, const char *backend, const char *runtime,
                const char *settings);
/* The same without the session, which the caller opens. */
bool arena_engine(struct arena *arena, const char *backend, const char *settings);
void arena_close(struct arena *arena);
/* The directory of its box on the host. */
const char *arena_directory(const struct arena *arena);
/* Ensures that an unharmed victim exists, named by `@victim@`. */
bool arena_victim(struct arena *arena);
/* Fills in the names and executes; returns the value if it is text, else the verdict and the error.
 * Static memory, valid until the second call after this one. */
const char *arena_try(struct arena *arena, const char *code);
/* The attack in a process of the test's own, without any sandbox. */
const char *arena_bare(struct arena *arena, const char *line);
/* Is the word one of "EPERM|ENOENT"? */
bool arena_is_one_of(const char *word, const char *list);

#endif
