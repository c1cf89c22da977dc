/* SPDX-License-Identifier: MIT */
/* interrupt.c - Ctrl-C ends an execution, not the command: it still reports and cleans up. */
#include "cli/cli.h"

static void interrupt_cancel(void *engine)
{
    laz_engine_cancel(engine); /* no effect on an engine that is not in use yet */
}

int cli_interrupt_start(struct laz_interrupt *interrupt, struct laz_engine *engine,
                        struct laz_error *err)
{
    return laz_interrupt_start(interrupt, interrupt_cancel, engine, err);
}
