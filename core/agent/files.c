/* SPDX-License-Identifier: MIT */
/* files.c - files that the host puts into the session.
 * Side: box.  Input trusted: yes (names and bytes of the host). */
#include "agent/agent.h"

#include "base/base64.h"
#include "base/path.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_VARIABLE "LAZARET_ARTIFACTS" /* the directory, for code that has left its own */

/* ---- files of the host ---------------------------------------------------------------------- */

static const char *put_failed(const char *name, int os_errno)
{
    static char words[400];

    snprintf(words, sizeof words, "cannot create the file %.255s: %s", name, strerror(os_errno));
    return words;
}

void agent_files_put_end(struct agent *agent)
{
    struct agent_files *files = &agent->files;

    if (files->put >= 0)
        (void)unlink(files->put_path);
    laz_os_close(&files->put);
    free(files->put_path);
    files->put_path = NULL;
}

/* 0 or an errno. */
static int put_begin(struct agent *agent, const char *name)
{
    struct agent_files *files = &agent->files;

    agent_files_put_end(agent);
    files->put_path = laz_strdupf("%s/%s", files->home, name);
    if (!files->put_path)
        return ENOMEM;
    files->put = laz_os_replace_file(files->put_path, 0400);
    return files->put < 0 ? errno : 0;
}

const char *agent_files_put(struct agent *agent, const struct laz_message *message)
{
    struct agent_files *files = &agent->files;
    size_t done;

    if (!files->home || !laz_name_is_plain(message->name)) {
        agent_files_put_end(agent);
        return put_failed(message->name, EINVAL);
    }
    char *data = malloc(message->data_len + 1);
    ptrdiff_t len = data ? laz_base64_decode(message->data, message->data_len, data) : -1;
    int failed = !data ? ENOMEM : len < 0 ? EINVAL : 0;

    if (!failed && message->part == 0)
        failed = put_begin(agent, message->name);
    else if (!failed && files->put < 0)
        failed = EPIPE; /* its first part is missing */
    if (!failed)
        failed = laz_os_write_all(files->put, data, (size_t)len, &done);
    if (!failed && !message->more) {
        failed = close(files->put) ? errno : 0;
        files->put = -1;
    }
    if (failed || !message->more)
        agent_files_put_end(agent);
    free(data);
    return failed ? put_failed(message->name, failed) : NULL;
}

const char *agent_files_remove(struct agent *agent, const struct laz_message *message)
{
    struct agent_files *files = &agent->files;
    char *path = files->home ? laz_strdupf("%s/%s", files->home, message->name) : NULL;
    int failed = !path ? ENOMEM : laz_name_is_plain(message->name) ? 0 : EINVAL;
    static char words[400];

    if (!failed && unlink(path) && errno != ENOENT)
        failed = errno;
    free(path);
    if (failed)
        snprintf(words, sizeof words, "the file %.255s cannot be removed: %s", message->name,
                 strerror(failed));
    return failed ? words : NULL;
}

/* ---- where they are ------------------------------------------------------------------------- */

int agent_files_plan(struct agent *agent, const struct laz_wire_options *options,
                     struct laz_error *err)
{
    struct agent_files *files = &agent->files;
    char here[4096];
    const char *home = options->home; /* of the sessions of a template */

    if (!home && !agent->files.home)
        home = getcwd(here, sizeof here) ? here : NULL;
    files->put = -1;
    files->max_files = options->max_files > 0 ? (size_t)options->max_files : 0;
    files->max_bytes = options->max_parts > 0 ? (uint64_t)options->max_parts : 0;
    if (!home)
        return 0;
    files->home = laz_strdup(home);
    if (files->max_files)
        files->directory = laz_strdupf("%s/artifacts", home);
    if (!files->home || (files->max_files && !files->directory) ||
        (files->directory && !laz_os_set_variable(FILES_VARIABLE, files->directory)))
        return laz_error_nomem(err);
    return 0;
}

void agent_files_begin(struct agent *agent)
{
    struct agent_files *files = &agent->files;

    if (files->directory) /* code can do without it, or make it itself */
        files->is_watched = laz_os_make_watched_directory(files->directory, &files->written_ns);
}
