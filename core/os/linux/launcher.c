/* SPDX-License-Identifier: MIT */
/* launcher.c - starts children of the host in another part of the control groups.  System: Linux.
 * Side: host.  Input trusted: yes (the host's requests).
 *
 * A request is a file in memory with all of the child's texts and numbers, and the descriptors that
 * it gets, in as many messages as that takes.  The answer comes as soon as the process exists: its
 * descriptor, and the pipe in which it reports why its program cannot be run.  From there on the
 * host has a child like any other.  Both ends are of one build, as the warden and its host are: a
 * request of another size is refused. */
#include "os/launcher.h"

#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "os/linux/cgroup.h"
#include "os/posix/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LAUNCHER_SOCKET 0
#define LAUNCHER_FDS    64 /* of one request, at most; three are not the child's */

/* A message. Of the host: a part of the descriptors of a request. Of the launcher: that it serves,
 * or the answer to a request. */
struct launcher_word {
    int32_t pid, os_errno; /* of an answer; os_errno: no process was made */
    uint32_t left;         /* of a request: the descriptors that are still to come */
};

/* The start of the file of a request. Behind it are the numbers of the child's descriptors, each
 * with whether it is a descriptor of the request (else /dev/null), then the texts: directory,
 * arguments, environment. */
struct launcher_request {
    uint32_t size;
    int32_t host; /* process id */
    uint32_t n_argv, n_env, n_fds;
    int32_t death_signal;
    bool group, no_priority, own_keys, has_directory;
    bool has_group, has_warden; /* each has a descriptor before those of the child */
};
struct launcher_fd {
    int32_t child;
    bool has_parent;
};

/* ---- in the host ---------------------------------------------------------------------------- */

static uint32_t launcher_count(const char *const *texts)
{
    uint32_t n = 0;

    while (texts[n])
        n++;
    return n;
}

static void launcher_put_texts(struct laz_buf *to, const char *const *texts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        laz_buf_append(to, texts[i], strlen(texts[i]) + 1);
}

/* Makes the file of a request. */
static int launcher_write(const struct laz_spawn *spawn, int warden, int *file,
                          struct laz_error *err)
{
    struct launcher_request request;
    struct laz_buf text = LAZ_BUF_INIT;
    const char *const directory[] = {spawn->directory};

    memset(&request, 0, sizeof request);
    request.size = sizeof request;
    request.host = (int32_t)getpid();
    request.n_argv = launcher_count(spawn->argv);
    request.n_env = launcher_count(spawn->env);
    request.n_fds = (uint32_t)spawn->n_fds;
    request.death_signal = spawn->death_signal;
    request.group = spawn->group;
    request.no_priority = spawn->no_priority;
    request.own_keys = spawn->own_keys;
    request.has_directory = spawn->directory != NULL;
    request.has_group = spawn->cgroup->into >= 0;
    request.has_warden = warden >= 0;
    laz_buf_append(&text, &request, sizeof request);
    for (size_t i = 0; i < spawn->n_fds; i++) {
        struct launcher_fd fd;
        memset(&fd, 0, sizeof fd);
        fd.child = spawn->fds[i].child;
        fd.has_parent = spawn->fds[i].parent >= 0;
        laz_buf_append(&text, &fd, sizeof fd);
    }
    launcher_put_texts(&text, directory, request.has_directory);
    launcher_put_texts(&text, spawn->argv, request.n_argv);
    launcher_put_texts(&text, spawn->env, request.n_env);
    int rc = text.failed ? laz_error_nomem(err)
                         : laz_os_data_fd("lazaret-launch", text.data, text.len, file, err);
    laz_buf_fini(&text);
    return rc;
}

/* An errno; 0: all were sent. */
static int launcher_send(int fd, const int *fds, size_t n)
{
    int os_errno = 0;

    for (size_t at = 0; at < n && !os_errno;) {
        size_t part = n - at < LAZ_OS_HANDOVER ? n - at : LAZ_OS_HANDOVER;
        const struct launcher_word word = {.left = (uint32_t)(n - at - part)};
        os_errno = laz_os_send_fds(fd, &word, sizeof word, fds + at, part);
        at += part;
    }
    return os_errno;
}

/* Sends a request; an errno. */
static int launcher_ask(int fd, const struct laz_spawn *spawn, int warden, int file)
{
    int fds[LAUNCHER_FDS];
    size_t n = 0;

    fds[n++] = file;
    if (spawn->cgroup->into >= 0)
        fds[n++] = spawn->cgroup->into;
    if (warden >= 0)
        fds[n++] = warden;
    for (size_t i = 0; i < spawn->n_fds; i++)
        if (spawn->fds[i].parent >= 0)
            fds[n++] = spawn->fds[i].parent;
    return launcher_send(fd, fds, n);
}

/* Reads the answer: the process, its descriptor and the pipe of its errors; -1: the kernel dropped
 * them, because there is no number for them (unix(7)). */
static int launcher_answer(int fd, uint64_t ms, pid_t *pid, int *pidfd, int *errors,
                           struct laz_error *err)
{
    struct launcher_word word;
    int fds[LAZ_OS_HANDOVER];
    size_t n = 0;

    if (!laz_os_await(fd, ms))
        return laz_error_set(err, LAZ_ETIMEOUT, 0, "the launcher does not answer");
    if (laz_os_receive(fd, &word, sizeof word, fds, &n) != sizeof word)
        return laz_error_set(err, LAZ_ESETUP, 0, "the launcher is gone");
    if (word.os_errno)
        return laz_error_start(err, word.os_errno, "the launcher made no process");
    *pid = (pid_t)word.pid;
    if (n == 2 && fds[0] >= 0 && fds[1] >= 0) {
        *pidfd = fds[0];
        *errors = fds[1];
        return 0;
    }
    while (n)
        laz_os_close(&fds[--n]);
    errno = EMFILE;
    return 0;
}

int laz_launcher_child(int fd, const struct laz_spawn *spawn, int warden, uint64_t ms,
                       struct laz_process *process, struct laz_error *err)
{
    int file = -1, errors = -1;
    struct laz_error why = {0};
    pid_t pid = -1;

    int rc = spawn->n_fds > LAUNCHER_FDS - 3
                 ? laz_error_set(&why, LAZ_EINVAL, 0,
                                 "a launched child gets at most %d descriptors", LAUNCHER_FDS - 3)
                 : launcher_write(spawn, warden, &file, &why);
    if (rc)
        goto out;
    int os_errno = launcher_ask(fd, spawn, warden, file);
    rc = os_errno ? laz_error_os(&why, os_errno, "the launcher cannot be asked")
                  : launcher_answer(fd, ms, &pid, &process->pidfd, &errors, &why);
    if (rc == LAZ_ETIMEOUT || rc == LAZ_ESETUP || os_errno)
        (void)shutdown(fd, SHUT_RDWR); /* a late answer would be taken for the next one */
    laz_os_close(&file);
    if (!rc)
        return laz_os_child_adopt(spawn, errors, pid, process, err);
out:
    laz_os_close(&file);
    if (err) {
        *err = why;
        laz_error_prefix(err, "%s cannot be started: ", spawn->argv[0]);
    }
    return rc;
}

/* ---- the launcher --------------------------------------------------------------------------- */

/* What one request asks for. */
struct launcher_job {
    int fds[LAUNCHER_FDS];
    size_t n_fds, next_fd;
    char *text; /* of its file, with a NUL behind it */
    size_t len, at;
    struct launcher_request request;
    struct laz_spawn spawn;
    struct laz_spawn_fd *child_fds;
    const char **texts; /* arguments, NULL, environment, NULL */
    struct laz_cgroup_door door;
    int warden;
};

/* Receives the descriptors of a request. False: the host is gone. */
static bool launcher_hear(struct launcher_job *job)
{
    struct launcher_word word;

    do {
        int fds[LAZ_OS_HANDOVER];
        size_t n;
        if (laz_os_receive(LAUNCHER_SOCKET, &word, sizeof word, fds, &n) != sizeof word)
            return false;
        for (size_t i = 0; i < n; i++)
            if (job->n_fds < LAUNCHER_FDS)
                job->fds[job->n_fds++] = fds[i];
            else
                laz_os_close(&fds[i]);
    } while (word.left);
    return true;
}

/* The next descriptor of the request, or -1. */
static int launcher_take_fd(struct launcher_job *job)
{
    return job->next_fd < job->n_fds ? job->fds[job->next_fd++] : -1;
}

static bool launcher_take(struct launcher_job *job, void *to, size_t len)
{
    if (job->len - job->at < len)
        return false;
    memcpy(to, job->text + job->at, len);
    job->at += len;
    return true;
}

/* The next text, or NULL. */
static const char *launcher_take_text(struct launcher_job *job)
{
    const char *text = job->text + job->at;

    if (job->at >= job->len)
        return NULL;
    job->at += strlen(text) + 1; /* the last one ends at the NUL behind all */
    return text;
}

/* Reads the file of the request; an errno. */
static int launcher_read(struct launcher_job *job)
{
    int file = launcher_take_fd(job);
    struct stat st;

    if (file < 0)
        return EMFILE; /* the kernel drops descriptors for which there is no number (unix(7)) */
    if (fstat(file, &st) != 0)
        return errno;
    job->len = (size_t)st.st_size;
    job->text = malloc(job->len + 1);
    if (!job->text)
        return ENOMEM;
    if (pread(file, job->text, job->len, 0) != (ssize_t)job->len)
        return EIO;
    job->text[job->len] = '\0';
    if (!launcher_take(job, &job->request, sizeof job->request) ||
        job->request.size != sizeof job->request)
        return EPROTO; /* another build */
    return 0;
}

static int launcher_read_fds(struct launcher_job *job)
{
    const struct launcher_request *request = &job->request;

    job->door = (struct laz_cgroup_door){.into = -1, .launcher = -1};
    job->warden = -1;
    if (request->has_group && (job->door.into = launcher_take_fd(job)) < 0)
        return EMFILE;
    if (request->has_warden && (job->warden = launcher_take_fd(job)) < 0)
        return EMFILE;
    job->child_fds = calloc(request->n_fds + 1u, sizeof *job->child_fds);
    if (!job->child_fds)
        return ENOMEM;
    for (uint32_t i = 0; i < request->n_fds; i++) {
        struct launcher_fd fd;
        if (!launcher_take(job, &fd, sizeof fd))
            return EPROTO;
        int parent = fd.has_parent ? launcher_take_fd(job) : -1;
        if (fd.has_parent && parent < 0)
            return EMFILE;
        job->child_fds[i] = (struct laz_spawn_fd){parent, fd.child};
    }
    return 0;
}

/* Makes job->spawn of the request; an errno. */
static int launcher_parse(struct launcher_job *job)
{
    const struct launcher_request *request = &job->request;
    size_t n = (size_t)request->n_argv + request->n_env;
    int os_errno = launcher_read_fds(job);

    if (os_errno)
        return os_errno;
    const char *directory = request->has_directory ? launcher_take_text(job) : NULL;
    job->texts = calloc(n + 2, sizeof *job->texts);
    if (!job->texts)
        return ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!(job->texts[i + (i >= request->n_argv)] = launcher_take_text(job)))
            return EPROTO;
    job->spawn = (struct laz_spawn){
        .argv = job->texts,
        .env = job->texts + request->n_argv + 1,
        .fds = job->child_fds,
        .n_fds = request->n_fds,
        .directory = directory,
        .uid = LAZ_SPAWN_SAME_ID,
        .gid = LAZ_SPAWN_SAME_ID,
        .group = request->group,
        .no_priority = request->no_priority,
        .own_keys = request->own_keys,
        .cgroup = &job->door,
        .death_signal = request->death_signal,
    };
    return 0;
}

/* Sends the answer; false: the host is gone. */
static bool launcher_tell(struct laz_process *process, int *errors, int os_errno)
{
    const struct launcher_word word = {.pid = (int32_t)process->pid, .os_errno = os_errno};
    const int fds[] = {process->pidfd, *errors};
    size_t n = os_errno ? 0 : sizeof fds / sizeof *fds;

    bool told = n ? laz_os_hand_over(LAUNCHER_SOCKET, &word, sizeof word, fds, n)
                  : send(LAUNCHER_SOCKET, &word, sizeof word, MSG_NOSIGNAL) == sizeof word;
    laz_process_close(process);
    laz_os_close(errors);
    return told;
}

/* Makes the process of a request, unless the host has given it up: an errno. While a request is
 * served the host sends nothing. */
static int launcher_launch(struct launcher_job *job, struct laz_process *process, int *errors)
{
    struct laz_error err = {0};

    if (laz_os_await(LAUNCHER_SOCKET, 0))
        return ECANCELED;
    return laz_os_child_launch(&job->spawn, (pid_t)job->request.host, job->warden, process, errors,
                               &err) == 0
               ? 0
           : err.os_errno ? err.os_errno
                          : EPROTO;
}

/* Serves one request; false: the host is gone. */
static bool launcher_serve(void)
{
    struct launcher_job job = {.warden = -1};
    struct laz_process process = LAZ_PROCESS_INIT;
    int errors = -1;
    bool goes_on = launcher_hear(&job);

    if (goes_on) {
        int os_errno = launcher_read(&job);
        if (!os_errno)
            os_errno = launcher_parse(&job);
        if (!os_errno)
            os_errno = launcher_launch(&job, &process, &errors);
        goes_on = launcher_tell(&process, &errors, os_errno);
    }
    for (size_t i = 0; i < job.n_fds; i++)
        laz_os_close(&job.fds[i]);
    free(job.text);
    free(job.child_fds);
    free(job.texts);
    return goes_on;
}

/* Makes the group below its own, and enters it; an errno. */
static int launcher_settle(const char *name)
{
    size_t top;
    char *own = cgroup_own_v2(&top);
    char *group = own ? laz_strdupf("%s/%s", own, name) : NULL;
    int os_errno = !group ? ENOENT : mkdir(group, 0755) != 0 ? errno : 0;

    if (!os_errno)
        os_errno = cgroup_write(group, "cgroup.procs", "0");
    free(group);
    free(own);
    return os_errno;
}

/* Can it make children of the host here? */
static int launcher_check(struct laz_error *err)
{
#ifdef SYS_clone3
    /* too short a structure: EINVAL where the call exists, and no filter around the host refuses it
     */
    if (syscall(SYS_clone3, NULL, (size_t)0) < 0 && errno == EINVAL)
        return 0;
    return laz_error_os(err, errno, "the system call clone3 cannot be used");
#else
    return laz_error_set(err, LAZ_ESETUP, 0, "this build does not know the system call clone3");
#endif
}

int laz_os_launcher(const char *group, struct laz_error *err)
{
    const struct launcher_word up = {0};
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int rc = launcher_check(err);
    if (rc)
        return rc;
    int os_errno = group ? launcher_settle(group) : 0;
    if (os_errno)
        return laz_error_os(err, os_errno, "cannot create a control group in the one it got");
    if (send(LAUNCHER_SOCKET, &up, sizeof up, MSG_NOSIGNAL) != sizeof up)
        return laz_error_os(err, errno, "the host cannot be told");
    while (launcher_serve())
        ;
    return 0;
}
