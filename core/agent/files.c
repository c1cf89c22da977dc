/* SPDX-License-Identifier: MIT */
/* files.c - files that the host puts into the session, and what an execution has made: its
 * artifacts, and a value that is too large for a line.
 * Side: box.  Input trusted: names and bytes of the host yes; the directory of artifacts no.
 *
 * The agent does all this with the rights that the code has, and inside of its box: what the code
 * may put in its way, a link or a directory in place of another, leads to nothing that the code
 * could not read itself.  No link is followed all the same, so that an artifact is what was saved.
 *
 * A file that was sent is sent again when it has changed.  Its times tell that, but only as finely
 * as a file system counts them; one that was young when it was sent is compared by its content. */
#include "agent/agent.h"

#include "base/base64.h"
#include "base/digest.h"
#include "base/path.h"
#include "base/visible.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILES_VARIABLE "LAZARET_ARTIFACTS" /* the directory, for code that has left its own */
#define FILES_PART     (48u * 1024)        /* bytes of a part; a multiple of 3 */
#define FILES_AROUND   1536u               /* bytes of a line beside its data, at most */
#define FILES_SECOND   INT64_C(1000000000)
#define FILES_TICK_NS                                                                              \
    INT64_C(50000000)                     /* file systems count by the ticks of the kernel (10 ms) \
                                           */
#define FILES_OLD_NS  INT64_C(2500000000) /* or, as FAT, by two seconds */
#define FILES_KNOWN   4096                /* files that are remembered */
#define FILES_REASONS 4                   /* files whose fate is told one by one */

/* ---- parts ---------------------------------------------------------------------------------- */

/* Bytes of a part, so that its line is no longer than max_message. */
static size_t files_part_size(const struct agent *agent)
{
    const size_t room = (agent->max_message - FILES_AROUND) / 4 * 3;

    return room < FILES_PART ? room : FILES_PART;
}

static void files_send_part(struct agent *agent, struct laz_message *part, const void *data,
                            size_t len, bool more)
{
    struct laz_buf *text = &agent->files.text;

    laz_buf_clear(text);
    laz_base64_encode(text, data, len);
    part->type = LAZ_MESSAGE_PART;
    part->has_id = agent->request->has_id;
    part->id = agent->request->id;
    part->data = laz_buf_text(text);
    part->data_len = text->len;
    part->more = more;
    if (text->failed)
        _exit(AGENT_EXIT_SETUP); /* as without memory for any other message */
    agent_send(agent, part);
    part->name = NULL;
}

void agent_files_send_bytes(struct agent *agent, const char *of, const char *data, size_t len)
{
    const size_t most = files_part_size(agent);
    struct laz_message part = {.of = of};

    do {
        const size_t n = len < most ? len : most;
        len -= n;
        files_send_part(agent, &part, data, n, len > 0);
        data += n;
    } while (len);
}

/* ---- artifacts ------------------------------------------------------------------------------ */

/* One that was sent. */
struct agent_artifact {
    char *name;
    uint64_t inode, size;
    int64_t changed_ns, sent_ns; /* by the clock of the file system */
    char digest[LAZ_SHA256_HEX + 1];
};

struct files_collection {
    struct agent *agent;
    size_t n; /* that were sent */
    uint64_t bytes;
    size_t n_too_many, n_not_files, n_odd, n_lost; /* that were not */
};

static int64_t files_now_ns(void)
{
    struct timespec now;

    return clock_gettime(CLOCK_REALTIME, &now)
               ? 0
               : (int64_t)now.tv_sec * 1000000000 + (int64_t)now.tv_nsec;
}

static struct agent_artifact *files_known(const struct agent_files *files, const char *name)
{
    for (size_t i = 0; i < files->n_known; i++)
        if (strcmp(files->known[i].name, name) == 0)
            return &files->known[i];
    return NULL;
}

/* A record of that name: the one that is there, or a new one. NULL: there is no room. */
static struct agent_artifact *files_remember(struct agent_files *files, const char *name)
{
    struct agent_artifact *known = files_known(files, name);

    if (known || files->n_known >= FILES_KNOWN)
        return known;
    char *copy = laz_strdup(name);
    known = copy ? laz_grow(&files->known, &files->n_known, sizeof *known) : NULL;
    if (known)
        known->name = copy;
    else
        free(copy);
    return known;
}

/* Is it, by its times, what was sent? */
static bool files_is_known(const struct agent_artifact *known, const struct laz_look *look)
{
    return known && known->inode == look->inode && known->size == look->size &&
           known->changed_ns == look->changed_ns;
}

/* Had something these times for so long when it was seen that a later change would have another? */
static bool files_was_old(int64_t changed_ns, int64_t seen_ns)
{
    const bool in_seconds = changed_ns % FILES_SECOND == 0;

    return changed_ns + (in_seconds ? FILES_OLD_NS : FILES_TICK_NS) < seen_ns;
}

/* The digest of the first `size` bytes, which are read from the beginning. */
static bool files_digest(int fd, uint64_t size, char *block, char hex[LAZ_SHA256_HEX + 1])
{
    struct laz_sha256 sha256;
    ssize_t n = 1;

    laz_sha256_init(&sha256);
    while (size && (n = read(fd, block, size < FILES_PART ? (size_t)size : FILES_PART)) > 0) {
        laz_sha256_add(&sha256, block, (size_t)n);
        size -= (uint64_t)n;
    }
    laz_sha256_hex(&sha256, hex);
    return n >= 0 && lseek(fd, 0, SEEK_SET) == 0;
}

/* Sends as many bytes as it had when it was opened; what another process cuts off meanwhile is
 * missing. */
static void files_send_file(struct agent *agent, const char *name, int fd, uint64_t size,
                            char *block, char hex[LAZ_SHA256_HEX + 1])
{
    const size_t most = files_part_size(agent);
    struct laz_message part = {.of = "file", .name = name};
    struct laz_sha256 sha256;
    ssize_t n;

    laz_sha256_init(&sha256);
    do {
        n = read(fd, block, size < most ? (size_t)size : most);
        if (n > 0) {
            laz_sha256_add(&sha256, block, (size_t)n);
            size -= (uint64_t)n;
        }
        files_send_part(agent, &part, block, n > 0 ? (size_t)n : 0, n > 0 && size > 0);
    } while (n > 0 && size > 0);
    laz_sha256_hex(&sha256, hex);
}

/* A sentence about one that is left out, while there are few. */
static void files_leave_out(struct files_collection *all, const char *name, const char *why)
{
    struct laz_strv *left_out = &all->agent->files.left_out;
    struct laz_buf shown = LAZ_BUF_INIT;

    if (all->n_lost++ >= FILES_REASONS)
        return;
    laz_visible_line(&shown, name, strlen(name));
    laz_strv_addf(left_out, "artifacts/%.120s: %s", laz_buf_text(&shown), why);
    laz_buf_fini(&shown);
}

/* Takes an open file, unless it was sent as it is. */
static void files_take(struct files_collection *all, const char *name, int fd,
                       const struct laz_look *look)
{
    struct agent_files *files = &all->agent->files;
    struct agent_artifact *known = files_known(files, name);
    char hex[LAZ_SHA256_HEX + 1];
    char *block = malloc(FILES_PART);

    if (!block) {
        files_leave_out(all, name, "not enough memory");
        return;
    }
    if (files_is_known(known, look) && files_digest(fd, look->size, block, hex) &&
        strcmp(hex, known->digest) == 0) {
        known->sent_ns = files_now_ns();
        free(block);
        return;
    }
    if (look->size > files->max_bytes - all->bytes) {
        files_leave_out(all, name, "there is no room for it (artifacts.max_size)");
    } else if (all->n >= files->max_files) {
        all->n_too_many++;
    } else {
        all->n++;
        all->bytes += look->size;
        const int64_t now_ns = files_now_ns();
        files_send_file(all->agent, name, fd, look->size, block, hex);
        known = files_remember(files, name);
        if (known) {
            known->inode = look->inode;
            known->size = look->size;
            known->changed_ns = look->changed_ns;
            known->sent_ns = now_ns;
            memcpy(known->digest, hex, sizeof hex);
        }
    }
    free(block);
}

static bool files_visit(void *user, const struct laz_walk *at, const char *name,
                        const struct laz_look *seen)
{
    struct files_collection *all = user;
    struct laz_look look;

    if (seen->kind != LAZ_LOOK_FILE) {
        all->n_not_files++;
    } else if (!laz_artifact_name_is_plain(name)) {
        all->n_odd++;
    } else {
        const struct agent_artifact *known = files_known(&all->agent->files, name);
        if (files_is_known(known, seen) && files_was_old(known->changed_ns, known->sent_ns))
            return true;
        int fd = laz_os_walk_open(at, &look);
        if (fd < 0)
            files_leave_out(all, name, strerror(errno));
        else
            files_take(all, name, fd, &look);
        laz_os_close(&fd);
    }
    return true;
}

static void files_count(struct laz_strv *left_out, size_t n, const char *why)
{
    if (n)
        laz_strv_addf(left_out, "%zu in artifacts/: %s", n, why);
}

void agent_files_collect(struct agent *agent)
{
    struct agent_files *files = &agent->files;
    struct files_collection all = {.agent = agent};
    struct laz_look look;

    laz_strv_fini(&files->left_out);
    if (!files->directory || laz_os_look(files->directory, false, &look))
        return;
    if (files->is_watched && look.kind == LAZ_LOOK_DIRECTORY &&
        look.written_ns == files->written_ns)
        return; /* one system call for those who do not use it */
    int failed = laz_os_walk(files->directory, files_visit, &all);
    if (failed == EOVERFLOW)
        laz_strv_add(&files->left_out, "some of artifacts/, which has too many names, or "
                                       "directories in directories");
    else if (failed && failed != ENOENT)
        laz_strv_addf(&files->left_out, "artifacts/, which cannot be read: %s", strerror(failed));
    files_count(&files->left_out, all.n_too_many, "more than artifacts.max_files");
    files_count(&files->left_out, all.n_not_files, "links, devices, or other special files");
    files_count(&files->left_out, all.n_odd,
                "hidden, or with control characters or backslashes in the name");
    files_count(&files->left_out, all.n_lost > FILES_REASONS ? all.n_lost - FILES_REASONS : 0,
                "for the same reasons");
}

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
