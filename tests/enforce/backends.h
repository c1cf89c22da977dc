/* SPDX-License-Identifier: MIT */
/* backends.h - for tests: the backends of this build, plans made with them, boxes started. */
#ifndef LAZ_TESTS_BACKENDS_H
#define LAZ_TESTS_BACKENDS_H

#include "plan/plan.h"
#include "os/process.h"

#include <lazaret/plugin.h>

/* The plugin of this build; NULL when it cannot be loaded. */
const struct laz_plugin *backends_load(const char *name);
/* Path of a file in the build directory of this program. Static memory. */
const char *backends_built(const char *name);

struct backends_run {
    struct laz_buf out, errs;
    struct laz_buf documents; /* status documents of the backend's program */
    struct laz_exit how;
};

/* Starts a plan's process with uid (or LAZ_SPAWN_SAME_ID), reads all its output and waits for its
 * end. False, with a line on stdout, when it cannot be started or does not end within ten
 * seconds. */
bool backends_run(const struct laz_plan *plan, uint32_t uid, struct backends_run *run);
void backends_run_fini(struct backends_run *run);

#endif
