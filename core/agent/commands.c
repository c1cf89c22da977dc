/* SPDX-License-Identifier: MIT */
/* commands.c - tools as commands, for programs that the code starts.
 * Side: box.  Input trusted: yes (the host).
 *
 * A directory in the home has a link for each tool, and stands first in PATH.  Their calls do not
 * come through this process, whose interpreter is busy while code runs: another one carries them
 * (core/command), which gets a channel of its own to the host, and is started before any code.  A
 * session that cannot have it goes on without commands. */
#include "agent/agent.h"

#include "base/clock.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS_READ      (64u * 1024)
#define COMMANDS_DIRECTORY ".lazaret" /* in the home */
#define COMMANDS_LINKS     "bin"      /* in that; core/command/command.h */

int agent_commands_first(struct agent *agent, char **line, size_t *len)
{
    struct agent_channel *channel = &agent->channel;
    int have, fds[LAZ_OS_HANDOVER];
    size_t n;

    while ((have = laz_frame_next(&channel->in, line, len)) == 0) {
        char *room = laz_frame_room(&channel->in, COMMANDS_READ);
        const ssize_t got = room ? laz_os_receive(channel->fd, room, COMMANDS_READ, fds, &n) : 0;
        if (got <= 0)
            return room ? LAZ_ECLOSED : LAZ_ENOMEM;
        for (size_t i = 0; i < n && n != LAZ_OS_CUT; i++) {
            laz_os_close(&agent->commands.channel);
            agent->commands.channel = fds[i];
        }
        laz_frame_added(&channel->in, (size_t)got);
    }
    channel->was_large |= have > 0 && *len >= AGENT_LARGE;
    return have > 0 ? 0 : have;
}

/* Before the runtime keeps a copy of the environment: the sessions of a template have PATH from it.
 */
int agent_commands_plan(struct agent *agent, const struct laz_wire_options *options,
                        struct laz_error *err)
{
    struct agent_commands *commands = &agent->commands;
    const char *home = options->home ? options->home : laz_os_getenv("HOME");
    const char *path = laz_os_getenv("PATH");

    if (!options->commands || !home || (agent->role == AGENT_COLD && commands->channel < 0))
        return 0;
    commands->program = laz_strdup(options->commands);
    commands->directory = laz_strdupf("%s/" COMMANDS_DIRECTORY, home);
    char *with = laz_strdupf("%s/" COMMANDS_DIRECTORY "/" COMMANDS_LINKS "%s%s", home,
                             path && *path ? ":" : "", path ? path : "");
    const bool is_set =
        commands->program && commands->directory && with && laz_os_set_variable("PATH", with);
    free(with);
    return is_set ? 0 : laz_error_nomem(err);
}

/* Gives the lists of tools to the process that carries the calls. */
static bool commands_start(const struct agent *agent, int channel, const char *const *lists)
{
    const struct agent_commands *commands = &agent->commands;
    char most[24], most_value[24];
    int reads, writes = -1;
    int64_t pid;

    snprintf(most, sizeof most, "%zu", agent->max_message);
    snprintf(most_value, sizeof most_value, "%zu",
             agent->channel.in.max > AGENT_LINE_SLACK ? agent->channel.in.max - AGENT_LINE_SLACK
                                                      : agent->channel.in.max);
    if (laz_os_cloexec_pipe(&reads, &writes, NULL)) {
        laz_os_close(&channel);
        return false;
    }
    const char *const argv[] = {
        "lazaret-tool", "--carry", commands->directory, commands->program, most, most_value, NULL};
    bool is_good = laz_os_helper_start(commands->program, argv, reads, channel, &pid);
    for (size_t i = 0; is_good && lists[i]; i++)
        is_good = laz_os_write_waiting(writes, lists[i], strlen(lists[i])) &&
                  laz_os_write_waiting(writes, "\n", 1);
    laz_os_close(&writes);
    return pid > 0 && laz_os_helper_has_left(pid) && is_good;
}

void agent_commands_start(struct agent *agent, const char *tools, size_t len)
{
    struct agent_commands *commands = &agent->commands;
    char *own = tools ? laz_strndup(tools, len) : NULL;
    const char *const lists[] = {agent->tools ? agent->tools : own, agent->tools ? own : NULL,
                                 NULL};
    const uint64_t begun = laz_clock_us();

    if (commands->channel < 0) {
        free(own);
        return;
    }
    if (commands->program && (own || !tools))
        (void)commands_start(agent, commands->channel, lists);
    else
        laz_os_close(&commands->channel);
    commands->channel = -1;
    free(own);
    agent_cost(agent, "commands", begun);
}
