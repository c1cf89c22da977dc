/* SPDX-License-Identifier: MIT */
/* hook.h - asking the command of session.pre_execute_hook about code, while the loop goes on. */
#ifndef LAZ_TOOL_HOOK_H
#define LAZ_TOOL_HOOK_H

#include "base/error.h"

#include <stddef.h>

struct laz_driver;
struct laz_hook;
struct laz_spawner;
struct laz_strv;

/* Has a worker ask `command` (borrowed until it has answered); `answered` is called by the loop,
 * once. Errors: nobody was asked. */
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
