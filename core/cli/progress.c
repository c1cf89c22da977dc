/* SPDX-License-Identifier: MIT */
/* progress.c - one line about the code that runs, for the person who waits at the terminal. It goes
 * away before anything else is written, and does not come while a line of output is incomplete,
 * which would be overwritten. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_FROM_US ((uint64_t)2000000) /* shorter executions have no line */

/* To the beginning of the line, and erase it (ECMA-48: EL). */
#define PROGRESS_ERASE "\r\033[K"

void progress_begin(struct progress *progress, const struct cli *cli)
{
    const char *terminal = getenv("TERM");

    progress->is_terminal[LAZ_STDOUT] = isatty(STDOUT_FILENO);
    progress->is_terminal[LAZ_STDERR] = isatty(STDERR_FILENO);
    progress->is_on = !cli->quiet && progress->is_terminal[LAZ_STDERR] && terminal && *terminal &&
                      strcmp(terminal, "dumb") != 0;
}

void progress_show(struct progress *progress, const struct laz_execution_usage *usage)
{
    const unsigned long long seconds = usage->wall_us / 1000000, calls = usage->tool_calls;
    struct laz_buf line = LAZ_BUF_INIT;

    if (!progress->is_on || progress->is_in_line || usage->wall_us < PROGRESS_FROM_US)
        return;
    laz_buf_printf(&line, PROGRESS_ERASE "lazaret: %llu:%02llu", seconds / 60, seconds % 60);
    if (calls)
        laz_buf_printf(&line, ", %llu tool call%s", calls, calls == 1 ? "" : "s");
    if (usage->max_rss_bytes)
        laz_buf_printf(&line, ", %llu MiB", (unsigned long long)(usage->max_rss_bytes >> 20));
    fputs(laz_buf_text(&line), stderr); /* at once: what is typed is shown as well */
    fflush(stderr);
    laz_buf_fini(&line);
    progress->is_shown = true;
}

void progress_hide(struct progress *progress)
{
    if (!progress->is_shown)
        return;
    fputs(PROGRESS_ERASE, stderr);
    fflush(stderr);
    progress->is_shown = false;
}

void progress_output(struct progress *progress, int stream, const char *data, size_t len)
{
    progress_hide(progress);
    if (progress->is_terminal[stream] && len)
        progress->is_in_line = data[len - 1] != '\n';
}
