/* SPDX-License-Identifier: MIT */
/* hook.h - runs the command of session.pre_execute_hook in a worker, while the loop goes on. All
 * functions are for the loop thread. */
#ifndef LAZ_TOOL_HOOK_H
#define LAZ_TOOL_HOOK_H

#include "base/error.h"

#include <stddef.h>

struct laz_driver;
struct laz_hook;
struct laz_spawner;
struct laz_strv;

/* Has a worker run `command` with `code` (copied) on standard input. Borrows driver, spawner and
 * command until the hook is freed. `answered` is called once, in the loop thread, when
 * laz_hook_end may be called. Errors: LAZ_ENOMEM, LAZ_EOS (no thread); the command was not run. */
int laz_hook_begin(struct laz_driver *driver, struct laz_spawner *spawner,
                   const struct laz_strv *command, const char *code, size_t len,
                   void (*answered)(void *user), void *user, struct laz_hook **hook,
                   struct laz_error *err);
/* After it was answered: 0 allows; LAZ_EREFUSED: it refused the code, `detail` is its reason or "";
 * any other error: it could not be asked, `detail` says why. Frees the hook. */
int laz_hook_end(struct laz_hook *hook, char *detail, size_t detail_size);
/* The answer is not wanted any more. Frees the hook: now, or when the answer comes. */
void laz_hook_forget(struct laz_hook *hook);

#endif
