/* SPDX-License-Identifier: MIT */
/* commands.c - tools as commands, for programs that the code starts.
 * Side: box.  Input trusted: yes (the host).
 *
 * A directory in the home has a link for each tool, and stands first in PATH.  Their calls do not
 * come through this process, whose interpreter is busy while code runs: another one carries them
 * (core/command), which gets a channel of its own to the host, and is started before any code.  A
 * session that cannot have it goes on without commands. */
#include "agent/agent.h"

#include "base/json.h"
#include "base/path.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/fd_passing.h"
#include "os/files.h"
#include "os/helper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS_READ      (64u * 1024)
#define COMMANDS_DIRECTORY ".lazaret" /* in the home */
/* In that, as core/command/command.h has them. */
#define COMMANDS_LINKS "bin"
#define COMMANDS_TOOLS "tools"
#define COMMANDS_CALLS "calls"

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

/* ---- the directory of a session -------------------------------------------------------------- */

static bool commands_make_directory(const char *path)
{
    return laz_os_make_directory(path, 0700, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) == 0;
}

/* The name of the command of a tool: a new string, or NULL. */
static char *commands_name(const char *tool, size_t len)
{
    static const char *const members[] = {"command", "spelling", "name"};
    const char *raw;
    size_t raw_len;

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (laz_json_member(tool, len, members[i], &raw, &raw_len))
            return laz_json_to_string(raw, raw_len, NULL);
    return NULL;
}

/* Makes a link for each tool of a list, unless there is one, and appends its declaration. A tool
 * that is called `..` is no command. */
static bool commands_link(const struct agent_commands *commands, const char *list, size_t len,
                          struct laz_buf *text)
{
    struct laz_json_items items = laz_json_items(list, len);
    const char *raw;
    bool is_good = true;

    while (is_good && laz_json_next_item(&items, &raw, &len)) {
        char *name = commands_name(raw, len);
        char *path =
            name ? laz_strdupf("%s/" COMMANDS_LINKS "/%s", commands->directory, name) : NULL;
        const bool has_link = path && laz_name_is_plain(name);
        const int failed = has_link ? laz_os_make_link(path, commands->program) : 0;
        is_good = path && (!failed || failed == EEXIST);
        laz_buf_printf(text, "%s\t%.*s\n", name ? name : "", (int)len, raw);
        free(path);
        free(name);
    }
    return is_good && !items.failed;
}

/* Makes the commands of these tools (NULL: none), and writes down their declarations. */
static bool commands_declare(const struct agent_commands *commands, const char *tools,
                             const char *own, size_t own_len)
{
    char *path = laz_strdupf("%s/" COMMANDS_TOOLS, commands->directory);
    struct laz_buf text = LAZ_BUF_INIT;

    laz_buf_putc(&text, '\n');
    bool is_good = path && (!tools || commands_link(commands, tools, strlen(tools), &text)) &&
                   (!own || commands_link(commands, own, own_len, &text)) && !text.failed;
    if (is_good) {
        (void)unlink(path); /* that of fewer tools */
        is_good = laz_os_write_file(path, text.data, text.len, 0600, NULL) == 0;
    }
    laz_buf_fini(&text);
    free(path);
    return is_good;
}

/* Makes the directory: the pipe of the calls, or -1. */
static int commands_make(const struct agent_commands *commands)
{
    char *links = laz_strdupf("%s/" COMMANDS_LINKS, commands->directory);
    char *calls = laz_strdupf("%s/" COMMANDS_CALLS, commands->directory);
    const bool is_good = links && calls && commands_make_directory(commands->directory) &&
                         commands_make_directory(links);
    const int fd = is_good ? laz_os_make_named_pipe(calls) : -1;

    free(links);
    free(calls);
    return fd;
}

/* ---- who carries their calls ----------------------------------------------------------------- */

/* Starts it, with a way on which it gets its channel. */
static bool commands_carry(const struct agent *agent, int calls, int *door)
{
    const size_t value = agent->channel.in.max;
    char most[24], most_value[24];
    int ends[2];

    if (laz_os_message_pair(ends))
        return false;
    snprintf(most, sizeof most, "%zu", agent->max_message);
    snprintf(most_value, sizeof most_value, "%zu",
             value > AGENT_LINE_SLACK ? value - AGENT_LINE_SLACK : value);
    const char *const argv[] = {"lazaret-tool", "--carry", most, most_value, NULL};
    const bool is_started = laz_os_helper_start(agent->commands.program, argv, calls, ends[1]);
    laz_os_close(&ends[1]);
    *door = ends[0];
    if (!is_started)
        laz_os_close(door);
    return is_started;
}

/* Makes the commands of these tools. */
static void commands_begin(struct agent *agent, const char *own, size_t own_len)
{
    struct agent_commands *commands = &agent->commands;
    int calls = commands_make(commands);

    if (calls >= 0 && commands_declare(commands, agent->tools, own, own_len))
        (void)commands_carry(agent, calls, &commands->door);
    laz_os_close(&calls);
}

void agent_commands_ahead(struct agent *agent)
{
    if (agent->commands.program && agent->tools && strcmp(agent->tools, "[]") != 0)
        commands_begin(agent, NULL, 0);
}

void agent_commands_start(struct agent *agent, const char *tools, size_t len)
{
    struct agent_commands *commands = &agent->commands;

    if (commands->channel >= 0 && commands->program && commands->door < 0)
        commands_begin(agent, tools, len);
    else if (commands->channel >= 0 && commands->door >= 0 && tools)
        (void)commands_declare(commands, agent->tools, tools, len);
    if (commands->channel >= 0 && commands->door >= 0)
        (void)laz_os_hand_over(commands->door, "", 1, &commands->channel, 1);
    laz_os_close(&commands->door);
    laz_os_close(&commands->channel);
}
