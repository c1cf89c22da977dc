/* SPDX-License-Identifier: MIT */
/* watch.h - descriptors and timers that tool providers watch through the engine's loop: the
 * functions of struct laz_tool_services, described in lazaret/tool.h. `host` is the loop. */
#ifndef LAZ_TOOL_WATCH_H
#define LAZ_TOOL_WATCH_H

#include <stdint.h>

struct laz_watch;

struct laz_watch *laz_watch_fd(void *host, int fd, uint32_t events,
                               void (*ready)(void *user, uint32_t events), void *user);
struct laz_watch *laz_watch_timer(void *host, uint64_t ms, void (*due)(void *user), void *user);
void laz_watch_stop(struct laz_watch *watch);

#endif
