/* SPDX-License-Identifier: MIT */
/* absent.c - an agent where a process cannot be copied (Windows): no template, no reaper.
 * Side: box.  Input trusted: yes (the host).
 *
 * template.c and reap.c need fork(2).  Backends of such a system plan neither; the functions here
 * return an error. */
#include "agent/agent.h"

#include <stdio.h>

int agent_template_load(struct agent *agent, const struct laz_wire_options *options,
                        struct laz_error *err)
{
    (void)agent;
    (void)options;
    return laz_error_set(err, LAZ_ESETUP, 0,
                         "this system cannot copy processes: there are no templates (pool.warm = "
                         "\"cold\")");
}

bool agent_template_serve(struct agent *agent, int *status)
{
    (void)agent;
    *status = AGENT_EXIT_SETUP;
    return false;
}

int agent_template_strip(struct agent *agent, struct laz_error *err)
{
    (void)agent;
    (void)err;
    return 0; /* there are no sessions of templates */
}

int agent_reap(char **argv)
{
    fprintf(stderr, "lazaret-agent: %s: there is no reaper on this system\n", argv[0]);
    return AGENT_EXIT_SETUP;
}
