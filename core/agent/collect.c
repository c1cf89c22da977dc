/* SPDX-License-Identifier: MIT */
/* collect.c - what an execution has made: its artifacts, and a value that is too large for a line.
 * Side: box.  Input trusted: no (the directory of artifacts).
 *
 * The agent does all this with the rights that the code has, and inside of its box: what the code
 * may put in its way, a link or a directory in place of another, leads to nothing that the code
 * could not read itself.  No link is followed all the same, so that an artifact is what was saved.
 *
 * A file that was sent is sent again when it has changed.  Its times tell that, but only as finely
 * as a file system counts them; one that was young when it was sent is compared by its content.
 *
 * What code has written may still be in a buffer of its language.  So where a file is open for
 * writing, buffers are written out first; and what a last execution leaves is collected a second
 * time, when its interpreter has ended. */
#include "agent/agent.h"

#include "base/base64.h"
#include "base/digest.h"
#include "base/path.h"
#include "base/visible.h"
#include "os/descriptors.h"
#include "os/paths.h"
#include "os/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COLLECT_PART   (48u * 1024) /* bytes of a part; a multiple of 3 */
#define COLLECT_AROUND 1536u        /* bytes of a line beside its data, at most */
#define COLLECT_SECOND INT64_C(1000000000)
#define COLLECT_TICK_NS                                                                            \
    INT64_C(50000000)                       /* file systems count by the ticks of the kernel       \
                                             * (10 ms) */
#define COLLECT_OLD_NS  INT64_C(2500000000) /* or, as FAT, by two seconds */
#define COLLECT_KNOWN   4096                /* files that are remembered */
#define COLLECT_REASONS 4                   /* files whose fate is told one by one */
#define COLLECT_NAMES   8                   /* that a sentence has */
#define COLLECT_WRITTEN 64                  /* files that are open for writing */

/* ---- parts ---------------------------------------------------------------------------------- */

/* Bytes of a part, so that its line is no longer than max_message. */
static size_t collect_part_size(const struct agent *agent)
{
    const size_t room = (agent->max_message - COLLECT_AROUND) / 4 * 3;

    return room < COLLECT_PART ? room : COLLECT_PART;
}

static void collect_send_part(struct agent *agent, struct laz_message *part, const void *data,
                              size_t len, bool more)
{
    struct laz_buf *text = &agent->files.text;

    laz_buf_clear(text);
    laz_base64_encode(text, data, len);
    part->type = LAZ_MESSAGE_PART;
    part->has_id = true;
    part->id = agent->files.id;
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
    const size_t most = collect_part_size(agent);
    struct laz_message part = {.of = of};

    do {
        const size_t n = len < most ? len : most;
        len -= n;
        collect_send_part(agent, &part, data, n, len > 0);
        data += n;
    } while (len);
}

/* ---- artifacts ------------------------------------------------------------------------------ */

/* One that was sent. */
struct agent_artifact {
    char *name;
    uint64_t inode, size;
    int64_t changed_ns, sent_ns; /* by the clock of the file system */
    int64_t sent_in;             /* id of an execution */
    char digest[LAZ_SHA256_HEX + 1];
};

static int64_t collect_now_ns(void)
{
    struct timespec now;

    return clock_gettime(CLOCK_REALTIME, &now)
               ? 0
               : (int64_t)now.tv_sec * 1000000000 + (int64_t)now.tv_nsec;
}

static struct agent_artifact *collect_known(const struct agent_files *files, const char *name)
{
    for (size_t i = 0; i < files->n_known; i++)
        if (strcmp(files->known[i].name, name) == 0)
            return &files->known[i];
    return NULL;
}

/* A record of that name: the one that is there, or a new one. NULL: there is no room. */
static struct agent_artifact *collect_remember(struct agent_files *files, const char *name)
{
    struct agent_artifact *known = collect_known(files, name);

    if (known || files->n_known >= COLLECT_KNOWN)
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
static bool collect_is_known(const struct agent_artifact *known, const struct laz_look *look)
{
    return known && known->inode == look->inode && known->size == look->size &&
           known->changed_ns == look->changed_ns;
}

/* Had something these times for so long when it was seen that a later change would have another? */
static bool collect_was_old(int64_t changed_ns, int64_t seen_ns)
{
    const bool in_seconds = changed_ns % COLLECT_SECOND == 0;

    return changed_ns + (in_seconds ? COLLECT_OLD_NS : COLLECT_TICK_NS) < seen_ns;
}

/* The digest of the first `size` bytes, which are read from the beginning. */
static bool collect_digest(int fd, uint64_t size, char *block, char hex[LAZ_SHA256_HEX + 1])
{
    struct laz_sha256 sha256;
    ssize_t n = 1;

    laz_sha256_init(&sha256);
    while (size && (n = read(fd, block, size < COLLECT_PART ? (size_t)size : COLLECT_PART)) > 0) {
        laz_sha256_add(&sha256, block, (size_t)n);
        size -= (uint64_t)n;
    }
    laz_sha256_hex(&sha256, hex);
    return n >= 0 && lseek(fd, 0, SEEK_SET) == 0;
}

/* Sends as many bytes as it had when it was opened; what another process cuts off meanwhile is
 * missing. */
static void collect_send_file(struct agent *agent, const char *name, int fd, uint64_t size,
                              char *block, char hex[LAZ_SHA256_HEX + 1])
{
    const size_t most = collect_part_size(agent);
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
        collect_send_part(agent, &part, block, n > 0 ? (size_t)n : 0, n > 0 && size > 0);
    } while (n > 0 && size > 0);
    laz_sha256_hex(&sha256, hex);
}

/* ---- a collection --------------------------------------------------------------------------- */

/* A file that is there. */
struct collect_file {
    char *name;
    struct laz_look look;
    bool in_cwd; /* at the top of the working directory; else below that of artifacts */
};

/* Names for one sentence. */
struct collect_names {
    struct laz_buf text;
    size_t n;
};

struct collection {
    struct agent *agent;
    struct collect_file *files;
    size_t n;
    bool in_cwd, failed; /* of the walk */
    struct collect_names too_many, elsewhere;
    size_t n_not_files, n_odd, n_lost;
};

static void collect_forget(struct collection *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->files[i].name);
    free(all->files);
    all->files = NULL;
    all->n = all->n_not_files = all->n_odd = 0;
}

/* Is it of the kind that is delivered? What the host has put is not the code's. */
static bool collect_is_fit(struct collection *all, const char *name, const struct laz_look *look)
{
    const bool is_file = look->kind == LAZ_LOOK_FILE, is_plain = laz_artifact_name_is_plain(name);

    if (all->in_cwd)
        return is_file && is_plain && !laz_strv_has(&all->agent->files.given, name);
    all->n_not_files += !is_file;
    all->n_odd += is_file && !is_plain;
    return is_file && is_plain;
}

static bool collect_visit(void *user, const char *name, const struct laz_look *look)
{
    struct collection *all = user;

    if (!collect_is_fit(all, name, look))
        return true;
    char *copy = laz_strdup(name);
    struct collect_file *file = copy ? laz_grow(&all->files, &all->n, sizeof *file) : NULL;
    if (file)
        *file = (struct collect_file){copy, *look, all->in_cwd};
    else
        free(copy);
    all->failed |= !file;
    return !all->failed;
}

static bool collect_is_touched(const struct agent_watched *watched)
{
    struct laz_look look;

    return watched->path && !laz_os_look(watched->path, false, &look) &&
           !(watched->is_watched && look.kind == LAZ_LOOK_DIRECTORY &&
             look.written_ns == watched->written_ns);
}

/* Lists what is there; for those who do not use it this is one system call. An errno: of the
 * directory of artifacts. */
static int collect_walk(struct collection *all, bool looks_in_cwd)
{
    const struct agent_files *files = &all->agent->files;
    int failed = 0;

    collect_forget(all);
    all->in_cwd = false;
    if (collect_is_touched(&files->artifacts))
        failed = laz_os_walk(files->artifacts.path, false, collect_visit, all);
    all->in_cwd = true;
    if (looks_in_cwd && collect_is_touched(&files->work))
        (void)laz_os_walk(files->work.path, true, collect_visit, all);
    return all->failed ? ENOMEM : failed;
}

/* In the order of their making. */
static int collect_compare(const void *one, const void *two)
{
    const struct collect_file *a = one, *b = two;

    if (a->look.written_ns != b->look.written_ns)
        return a->look.written_ns < b->look.written_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Appends the path of a file as people are told it. */
static void collect_show(struct laz_buf *to, const struct collect_file *file)
{
    struct laz_buf shown = LAZ_BUF_INIT;

    laz_visible_line(&shown, file->name, strlen(file->name));
    laz_buf_printf(to, "%s%.80s", file->in_cwd ? "" : "artifacts/", laz_buf_text(&shown));
    laz_buf_fini(&shown);
}

/* A sentence about one that is left out, while there are few. */
static void collect_leave_out(struct collection *all, const struct collect_file *file,
                              const char *why)
{
    struct laz_buf text = LAZ_BUF_INIT;

    if (all->n_lost++ >= COLLECT_REASONS)
        return;
    collect_show(&text, file);
    laz_strv_addf(&all->agent->files.left_out, "%s: %s", laz_buf_text(&text), why);
    laz_buf_fini(&text);
}

static void collect_name(struct collect_names *names, const struct collect_file *file)
{
    if (names->n++ >= COLLECT_NAMES)
        return;
    laz_buf_puts(&names->text, names->text.len ? ", " : "");
    collect_show(&names->text, file);
}

static void collect_tell_names(struct collection *all, const char *what,
                               struct collect_names *names, const char *why)
{
    if (names->n > COLLECT_NAMES)
        laz_buf_printf(&names->text, " and %zu more", names->n - COLLECT_NAMES);
    if (names->n)
        laz_strv_addf(&all->agent->files.left_out, "%s%s: %s", what, laz_buf_text(&names->text),
                      why);
    laz_buf_fini(&names->text);
}

/* Has it a place among those that the execution sends? One that it has sent already gives up that
 * place, and its bytes. */
static bool collect_has_room(struct collection *all, const struct collect_file *file,
                             const struct agent_artifact *known, uint64_t size)
{
    struct agent_files *files = &all->agent->files;
    const bool is_again = known && known->sent_in == files->id;
    const uint64_t bytes = files->bytes - (is_again ? known->size : 0);

    if (size > files->max_bytes - bytes) {
        collect_leave_out(all, file, "there is no room for it (artifacts.max_size)");
        return false;
    }
    if (!is_again && files->n_sent >= files->max_files) {
        collect_name(&all->too_many, file);
        return false;
    }
    files->bytes = bytes + size;
    files->n_sent += !is_again;
    return true;
}

/* Takes an open file, unless it was sent as it is. */
static void collect_take(struct collection *all, const struct collect_file *file, int fd,
                         const struct laz_look *look)
{
    struct agent_files *files = &all->agent->files;
    struct agent_artifact *known = collect_known(files, file->name);
    char hex[LAZ_SHA256_HEX + 1];
    char *block = malloc(COLLECT_PART);

    if (!block) {
        collect_leave_out(all, file, "not enough memory");
        return;
    }
    if (collect_is_known(known, look) && collect_digest(fd, look->size, block, hex) &&
        strcmp(hex, known->digest) == 0) {
        known->sent_ns = collect_now_ns();
    } else if (collect_has_room(all, file, known, look->size)) {
        const int64_t now_ns = collect_now_ns();
        collect_send_file(all->agent, file->name, fd, look->size, block, hex);
        known = collect_remember(files, file->name);
        if (known) {
            known->inode = look->inode;
            known->size = look->size;
            known->changed_ns = look->changed_ns;
            known->sent_ns = now_ns;
            known->sent_in = files->id;
            memcpy(known->digest, hex, sizeof hex);
        }
    }
    free(block);
}

static bool collect_is_taken(const struct collection *all, const struct collect_file *file)
{
    for (size_t i = 0; i < all->n; i++)
        if (!all->files[i].in_cwd && strcmp(all->files[i].name, file->name) == 0)
            return true;
    return false;
}

static void collect_file(struct collection *all, const struct collect_file *file)
{
    const struct agent_files *files = &all->agent->files;
    const struct agent_artifact *known = collect_known(files, file->name);
    struct laz_look look;

    if (file->in_cwd && !files->takes_cwd) {
        collect_name(&all->elsewhere, file);
        return;
    }
    if (file->in_cwd && collect_is_taken(all, file)) {
        collect_leave_out(all, file, "artifacts/ has a file of that name");
        return;
    }
    if (collect_is_known(known, &file->look) && collect_was_old(known->changed_ns, known->sent_ns))
        return;
    int fd = laz_os_walk_open(file->in_cwd ? files->work.path : files->artifacts.path, file->name,
                              &look);
    if (fd < 0)
        collect_leave_out(all, file, strerror(errno));
    else
        collect_take(all, file, fd, &look);
    laz_os_close(&fd);
}

/* ---- files that are still open -------------------------------------------------------------- */

/* The descriptors by which listed files are written, and these files. */
struct collect_open {
    int fds[COLLECT_WRITTEN];
    const struct collect_file *files[COLLECT_WRITTEN];
    size_t n;
};

static void collect_find_open(const struct collection *all, struct collect_open *open)
{
    struct laz_written_file written[COLLECT_WRITTEN];
    const size_t n = all->n ? laz_os_written_files(written, COLLECT_WRITTEN) : 0;

    open->n = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t at = 0; at < all->n; at++)
            if (written[i].inode == all->files[at].look.inode &&
                written[i].device == all->files[at].look.device) {
                open->fds[open->n] = written[i].fd;
                open->files[open->n++] = &all->files[at];
                break;
            }
}

/* Has what was written to listed files written out of buffers: true, if there are any. What a
 * language keeps for itself until a file is closed (a compressor, say) may still be missing. */
static bool collect_write_out(struct collection *all)
{
    const struct laz_runtime_ops *ops = all->agent->ops;
    struct collect_open open;

    collect_find_open(all, &open);
    if (open.n && all->agent->state && LAZ_HAS(ops, write_out))
        ops->write_out(all->agent->state, open.fds, open.n);
    if (open.n)
        fflush(NULL);
    return open.n > 0;
}

/* Of those that were sent just now: one that stays as it is was told before. */
static void collect_tell_open(struct collection *all)
{
    const struct agent_files *files = &all->agent->files;
    struct collect_names names = {.n = 0};
    struct collect_open open;

    collect_find_open(all, &open);
    for (size_t i = 0; i < open.n; i++) {
        const struct agent_artifact *known = collect_known(files, open.files[i]->name);
        if (known && known->sent_in == files->id)
            collect_name(&names, open.files[i]);
    }
    collect_tell_names(all, "what is not written yet of ", &names, "still open");
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void collect_count(struct laz_strv *left_out, size_t n, const char *why)
{
    if (n)
        laz_strv_addf(left_out, "%zu in artifacts/: %s", n, why);
}

static void collect_tell(struct collection *all, int failed)
{
    struct laz_strv *left_out = &all->agent->files.left_out;

    if (failed == EOVERFLOW)
        laz_strv_add(left_out, "some of artifacts/, which has too many names, or directories in "
                               "directories");
    else if (failed && failed != ENOENT)
        laz_strv_addf(left_out, "artifacts/, which cannot be read: %s", strerror(failed));
    collect_tell_names(all, "", &all->too_many, "more than artifacts.max_files");
    collect_tell_names(all, "", &all->elsewhere,
                       "in the working directory; what is saved in artifacts/ is kept");
    collect_count(left_out, all->n_not_files, "links, devices, or other special files");
    collect_count(left_out, all->n_odd,
                  "hidden, or with control characters or backslashes in the name");
    collect_count(left_out, all->n_lost > COLLECT_REASONS ? all->n_lost - COLLECT_REASONS : 0,
                  "for the same reasons");
}

void agent_files_ask(struct agent *agent, const struct laz_message *request)
{
    struct agent_files *files = &agent->files;

    files->id = request->id;
    files->n_sent = 0;
    files->bytes = 0;
    files->is_last = files->follows = request->is_last;
    files->takes_cwd = request->takes_cwd;
}

/* Compares directories, with their links resolved. */
static bool collect_is_in(const char *directory, const char *top, bool or_below)
{
    char *real_top = top ? laz_os_real_path(top) : NULL;
    const bool is_in = real_top && (or_below ? laz_path_is_within(directory, real_top)
                                             : strcmp(directory, real_top) == 0);

    free(real_top);
    return is_in;
}

bool agent_files_keep(const struct agent *agent, const char *path)
{
    const struct agent_files *files = &agent->files;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *directory = slash ? laz_strndup(path, (size_t)(name - path)) : laz_strdup(".");
    char *real = directory ? laz_os_real_path(directory) : NULL;
    const bool keeps =
        real && laz_artifact_name_is_plain(name) &&
        (collect_is_in(real, files->artifacts.path, true) ||
         (files->takes_cwd && files->max_files && collect_is_in(real, files->work.path, false) &&
          !laz_strv_has(&files->given, name)));

    free(directory);
    free(real);
    return keeps;
}

void agent_files_collect(struct agent *agent, enum agent_moment moment)
{
    struct agent_files *files = &agent->files;
    struct collection all = {.agent = agent};
    /* what is lost with a last execution is told at least */
    const bool looks_in_cwd =
        files->max_files && (files->takes_cwd || (files->is_last && moment == AGENT_HAS_ENDED));

    laz_strv_fini(&files->left_out);
    int failed = collect_walk(&all, looks_in_cwd);
    const bool has_open = all.n && collect_write_out(&all);
    if (has_open)
        failed = collect_walk(&all, looks_in_cwd);
    if (all.n)
        qsort(all.files, all.n, sizeof *all.files, collect_compare);
    for (size_t i = 0; i < all.n; i++)
        collect_file(&all, &all.files[i]);
    if (has_open && moment == AGENT_GOES_ON)
        collect_tell_open(&all);
    collect_tell(&all, failed);
    collect_forget(&all);
    if (moment == AGENT_ENDS_LATER) /* it is told then */
        laz_strv_fini(&files->left_out);
}
