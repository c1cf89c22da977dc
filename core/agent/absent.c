/* SPDX-License-Identifier: MIT */
/* absent.c - an agent where a process cannot be copied (Windows): no template, no reaper.
 * Side: box.  Input trusted: yes (the host).
 *
 * template.c and reap.c need fork(2).  Backends of such a system plan neither; the functions here
 * return an error. */
#include "agent/agent.h"

#include "os/unsupported.h"

#include <stdio.h>

/* clang-format off */
GIVES(int, agent_template_load,
      laz_error_set(err, LAZ_ESETUP, 0, "this system cannot copy processes: there are no templates "
                                        "(pool.warm = \"cold\")"),
      struct agent *agent, const struct laz_wire_options *options, struct laz_error *err)
GIVES(bool, agent_template_serve, (*status = AGENT_EXIT_SETUP, false),
      struct agent *agent, int *status)
/* there are no sessions of templates */
GIVES(int, agent_template_strip, 0, struct agent *agent, struct laz_error *err)
/* the host gives no commands */
GIVES(int, agent_commands_first, agent_channel_line(&agent->channel, -1, line, len),
      struct agent *agent, char **line, size_t *len)
GIVES(int, agent_commands_plan, 0, struct agent *agent, const struct laz_wire_options *options,
      struct laz_error *err)
IGNORES(agent_commands_ahead, struct agent *agent)
IGNORES(agent_commands_start, struct agent *agent, const char *tools, size_t len)
/* clang-format on */

int agent_reap(char **argv)
{
    fprintf(stderr, "lazaret-agent: %s: there is no reaper on this system\n", argv[0]);
    return AGENT_EXIT_SETUP;
}
