/* SPDX-License-Identifier: MIT */
/* files.c - files that the host puts into the session.
 * Side: box.  Input trusted: yes (names and bytes of the host). */
#include "agent/agent.h"

#include "base/base64.h"
#include "base/path.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/io.h"
#include "os/streams.h"
#include "os/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_VARIABLE "LAZARET_ARTIFACTS" /* the directory, for code that has left its own */

/* ---- files of the host ---------------------------------------------------------------------- */

/* Limits that such a file meets are named. */
static const char *put_why(int os_errno)
{
    if (os_errno == EFBIG)
        return "it is larger than limits.fsize allows";
    return os_errno == ENOSPC ? "there is no room for it (sandbox.tmp_size)" : strerror(os_errno);
}

static const char *put_failed(const char *name, int os_errno)
{
    static char words[400];

    snprintf(words, sizeof words, "cannot create the file %.255s: %s", name, put_why(os_errno));
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
    files->put_path = laz_strdupf("%s/%s", files->directory, name);
    if (!files->put_path)
        return ENOMEM;
    files->put = laz_os_replace_file(files->put_path, 0400);
    return files->put < 0 ? errno : 0;
}

const char *agent_files_put(struct agent *agent, const struct laz_message *message)
{
    struct agent_files *files = &agent->files;
    size_t done;

    if (!files->directory || !laz_name_is_plain(message->name)) {
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
    if (!failed && !message->more && !laz_strv_has(&files->given, message->name))
        laz_strv_add(&files->given, message->name);
    if (failed || !message->more)
        agent_files_put_end(agent);
    free(data);
    return failed ? put_failed(message->name, failed) : NULL;
}

const char *agent_files_remove(struct agent *agent, const struct laz_message *message)
{
    struct agent_files *files = &agent->files;
    char *path = files->directory ? laz_strdupf("%s/%s", files->directory, message->name) : NULL;
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

/* ---- one of them as standard input ------------------------------------------------------------
 */

/* Descriptor 0 is `fd` from here on. What was read ahead of another file is dropped, which flushing
 * an input does (fflush(3)). */
static bool input_becomes(struct agent *agent, int fd, int *former)
{
    fflush(stdin);
    clearerr(stdin); /* its end is not that of the other */
    if (!laz_os_set_input(fd, former))
        return false;
    if (LAZ_HAS(agent->ops, input_changed))
        agent->ops->input_changed(agent->state);
    return true;
}

const char *agent_files_input(struct agent *agent, const char *name)
{
    struct agent_files *files = &agent->files;
    struct laz_look look;
    static char words[400];

    int failed = laz_name_is_plain(name) && files->directory ? 0 : EINVAL;
    int fd = failed ? -1 : laz_os_walk_open(files->directory, name, &look);
    if (!failed && (fd < 0 || !input_becomes(agent, fd, &files->input)))
        failed = errno;
    laz_os_close(&fd);
    if (!failed)
        return NULL;
    snprintf(words, sizeof words, "the standard input %.255s: %s", name, strerror(failed));
    return words;
}

void agent_files_input_end(struct agent *agent)
{
    if (agent->files.input >= 0)
        (void)input_becomes(agent, agent->files.input, NULL);
    laz_os_close(&agent->files.input);
}

/* ---- where they are ------------------------------------------------------------------------- */

static bool files_make(const char *path)
{
    return laz_os_make_directory(path, 0700, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) == 0;
}

bool agent_files_go(const char *directory)
{
    return chdir(directory) == 0 && laz_os_set_variable("PWD", directory);
}

/* A directory for the code alone, so that what is at its top is the code's, and not of a language
 * or of the host: one that is there already is somebody's. */
static bool files_work(struct agent_files *files)
{
    return files->work.path && files_make(files->work.path) && agent_files_go(files->work.path);
}

static bool files_places(struct agent_files *files, const char *home, bool is_here)
{
    files->work.path = laz_strdupf("%s/work", home);
    if (is_here && !files_work(files)) {
        free(files->work.path);
        files->work.path = NULL;
    }
    files->directory = laz_strdup(files->work.path ? files->work.path : home);
    if (files->max_files && files->directory)
        files->artifacts.path = laz_strdupf("%s/artifacts", files->directory);
    return files->directory && (files->artifacts.path || !files->max_files);
}

int agent_files_plan(struct agent *agent, const struct laz_wire_options *options,
                     struct laz_error *err)
{
    struct agent_files *files = &agent->files;
    char here[4096];
    const char *home = options->home; /* of the sessions of a template */

    if (!home && !files->directory)
        home = getcwd(here, sizeof here) ? here : NULL;
    files->put = files->input = -1;
    files->max_files = options->max_files > 0 ? (size_t)options->max_files : 0;
    files->max_bytes = options->max_parts > 0 ? (uint64_t)options->max_parts : 0;
    if (!home)
        return 0;
    if (!files_places(files, home, agent->role == AGENT_COLD) ||
        (files->artifacts.path && !laz_os_set_variable(FILES_VARIABLE, files->artifacts.path)))
        return laz_error_nomem(err);
    return 0;
}

static void files_watch(struct agent_watched *watched)
{
    watched->is_watched =
        watched->path && laz_os_watch_directory(watched->path, &watched->written_ns);
}

void agent_files_begin(struct agent *agent)
{
    struct agent_files *files = &agent->files;

    if (agent->role == AGENT_SESSION)
        (void)files_work(files);
    if (files->artifacts.path)
        (void)files_make(files->artifacts.path); /* code can do without, or make it itself */
    files_watch(&files->artifacts);
    files_watch(&files->work);
}
