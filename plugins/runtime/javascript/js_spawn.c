/* SPDX-License-Identifier: MIT */
/* js_spawn.c - programs that the code starts, for the part `child_process`.
 * Side: box.  Input trusted: no (the code).
 *
 * A program runs to its end before the call returns. It is in the process group of the session, so
 * an interrupt reaches it as it reaches the session; one that goes on nevertheless is killed. Which
 * programs may run is not decided here: the sandbox refuses the others (EACCES, EPERM).
 * posix_spawn(3) and not fork(2): the engine reserves tens of gigabytes of addresses. */
#include "js.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SPAWN_STREAMS 16
#define SPAWN_CHUNK   65536
/* Of one output, whatever the code allows. */
#define SPAWN_MOST ((size_t)512 << 20)
/* From a signal that ends a program to SIGKILL. */
#define SPAWN_GRACE_MS 1000
/* The same, after an interrupt. */
#define SPAWN_INTERRUPT_GRACE_MS 250
#define SPAWN_POLL_MS            500

/* What the part gives for a descriptor of the child; not below 0: one of ours. */
enum spawn_kind { SPAWN_NULL = -1, SPAWN_OUTPUT = -2, SPAWN_INPUT = -3, SPAWN_CLOSED = -4 };

struct spawn_stream {
    int kind;
    int ours;   /* our end of a pipe; -1: none, or closed */
    int theirs; /* what becomes the descriptor in the child; -1: none */
    char *bytes;
    size_t len, room, at;
};

struct spawn {
    char *file, *directory;
    char **argv, **env; /* env NULL: ours */
    struct spawn_stream streams[SPAWN_STREAMS];
    size_t n_streams;
    double timeout_ms; /* 0: none */
    double most;       /* bytes of an output */
    int signal;        /* that ends the program */
    pid_t pid;
    int status;
    bool has_ended;
    int failure;     /* ETIMEDOUT, ENOBUFS, EPIPE; 0: none */
    double deadline; /* of what comes next; 0: none */
    bool is_ending;  /* the signal was sent; SIGKILL comes next */
};

static double spawn_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + (double)now.tv_nsec / 1e6;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void spawn_free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

/* The texts of an array; NULL: no memory, or it is none. */
static char **spawn_list(JSContextRef context, JSValueRef value)
{
    JSObjectRef object =
        JSValueIsObject(context, value) ? JSValueToObject(context, value, NULL) : NULL;
    JSValueRef length = object ? js_get(context, object, "length") : NULL;
    const double count = length ? JSValueToNumber(context, length, NULL) : -1;

    if (!(count >= 0 && count < 1e6))
        return NULL;
    char **list = calloc((size_t)count + 1, sizeof *list);
    for (unsigned i = 0; list && i < count; i++) {
        JSValueRef item = JSObjectGetPropertyAtIndex(context, object, i, NULL);
        list[i] = item ? js_text(context, item, NULL, NULL) : NULL;
        if (!list[i]) {
            spawn_free_list(list);
            return NULL;
        }
    }
    return list;
}

static char *spawn_optional(JSContextRef context, size_t n, const JSValueRef arguments[], size_t i)
{
    return i < n && JSValueIsString(context, arguments[i])
               ? js_text(context, arguments[i], NULL, NULL)
               : NULL;
}

/* An element of the array of streams: a number, or the bytes of an input. */
static int spawn_stream_read(JSContextRef context, JSValueRef value, struct spawn_stream *stream)
{
    void *bytes;

    *stream = (struct spawn_stream){.kind = SPAWN_NULL, .ours = -1, .theirs = -1};
    if (JSValueIsNumber(context, value)) {
        stream->kind = (int)JSValueToNumber(context, value, NULL);
        return 0;
    }
    stream->kind = SPAWN_INPUT;
    if (!js_bytes(context, value, &bytes, &stream->len)) {
        stream->bytes = js_text(context, value, &stream->len, NULL);
        return stream->bytes ? 0 : ENOMEM;
    }
    stream->bytes = malloc(stream->len + 1);
    if (!stream->bytes)
        return ENOMEM;
    if (stream->len)
        memcpy(stream->bytes, bytes, stream->len);
    return 0;
}

static int spawn_streams_read(JSContextRef context, JSValueRef value, struct spawn *spawn)
{
    JSObjectRef object = JSValueToObject(context, value, NULL);
    JSValueRef length = object ? js_get(context, object, "length") : NULL;
    const double count = length ? JSValueToNumber(context, length, NULL) : -1;

    if (!(count >= 0 && count <= SPAWN_STREAMS))
        return EINVAL;
    for (unsigned i = 0; i < count; i++) {
        JSValueRef item = JSObjectGetPropertyAtIndex(context, object, i, NULL);
        const int number = item ? spawn_stream_read(context, item, &spawn->streams[i]) : EINVAL;
        if (number)
            return number;
        spawn->n_streams = i + 1;
    }
    return 0;
}

/* spawn(file, arguments, environment or null, directory or null, streams, timeout, most, signal) */
static int spawn_read(JSContextRef context, size_t n, const JSValueRef arguments[],
                      struct spawn *spawn)
{
    if (n < 8)
        return EINVAL;
    spawn->file = js_text(context, arguments[0], NULL, NULL);
    spawn->argv = spawn_list(context, arguments[1]);
    spawn->env = JSValueIsObject(context, arguments[2]) ? spawn_list(context, arguments[2]) : NULL;
    spawn->directory = spawn_optional(context, n, arguments, 3);
    spawn->timeout_ms = js_argument(context, n, arguments, 5, 0);
    spawn->most = js_argument(context, n, arguments, 6, (double)SPAWN_MOST);
    spawn->signal = (int)js_argument(context, n, arguments, 7, SIGTERM);
    if (!spawn->file || !spawn->argv || (!spawn->env && JSValueIsObject(context, arguments[2])))
        return ENOMEM;
    if (!(spawn->most <= (double)SPAWN_MOST))
        spawn->most = (double)SPAWN_MOST;
    return spawn_streams_read(context, arguments[4], spawn);
}

static void spawn_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void spawn_free(struct spawn *spawn)
{
    free(spawn->file);
    free(spawn->directory);
    spawn_free_list(spawn->argv);
    spawn_free_list(spawn->env);
    for (size_t i = 0; i < spawn->n_streams; i++) {
        spawn_close(&spawn->streams[i].ours);
        spawn_close(&spawn->streams[i].theirs);
        free(spawn->streams[i].bytes);
    }
}

/* ---- the start ------------------------------------------------------------------------------- */

/* Moves `*fd` above the descriptors that the child gets: an error number. */
static int spawn_lift(int *fd)
{
    const int lifted = fcntl(*fd, F_DUPFD_CLOEXEC, SPAWN_STREAMS);
    const int number = lifted < 0 ? errno : 0;

    spawn_close(fd);
    *fd = lifted;
    return number;
}

static int spawn_stream_pipe(struct spawn_stream *stream)
{
    const int of_child = stream->kind == SPAWN_INPUT ? 0 : 1;
    int ends[2];
    int number;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    stream->theirs = ends[of_child];
    stream->ours = ends[!of_child];
    number = spawn_lift(&stream->ours);
    if (!number)
        number = spawn_lift(&stream->theirs);
    if (!number && fcntl(stream->ours, F_SETFL, O_NONBLOCK) < 0)
        number = errno;
    return number;
}

static int spawn_stream_open(struct spawn_stream *stream)
{
    if (stream->kind == SPAWN_CLOSED)
        return 0;
    if (stream->kind == SPAWN_OUTPUT || stream->kind == SPAWN_INPUT)
        return spawn_stream_pipe(stream);
    if (stream->kind < 0)
        stream->theirs = open("/dev/null", O_RDWR | O_CLOEXEC);
    else
        stream->theirs = fcntl(stream->kind, F_DUPFD_CLOEXEC, SPAWN_STREAMS);
    if (stream->theirs < 0)
        return errno;
    return stream->kind < 0 ? spawn_lift(&stream->theirs) : 0;
}

/* Opens the ends of all streams, and says in `actions` what they become. */
static int spawn_streams_open(struct spawn *spawn, posix_spawn_file_actions_t *actions)
{
    int number = 0;

    for (size_t i = 0; i < spawn->n_streams && !number; i++) {
        struct spawn_stream *stream = &spawn->streams[i];
        number = spawn_stream_open(stream);
        if (!number && stream->theirs >= 0)
            number = posix_spawn_file_actions_adddup2(actions, stream->theirs, (int)i);
    }
    if (!number && spawn->directory)
        number = posix_spawn_file_actions_addchdir_np(actions, spawn->directory);
    return number;
}

/* No signal is blocked or ignored in the child. */
static int spawn_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    int number = posix_spawnattr_setsigdefault(attributes, &all);
    if (!number)
        number = posix_spawnattr_setsigmask(attributes, &none);
    if (!number)
        number =
            posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    return number;
}

/* Starts the program of a path; a script without a first line that names one is for the shell. */
static int spawn_path(struct spawn *spawn, const char *path, char **env,
                      const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes)
{
    int number = posix_spawn(&spawn->pid, path, actions, attributes, spawn->argv, env);
    size_t count = 0;

    if (number != ENOEXEC)
        return number;
    while (spawn->argv[count])
        count++;
    char **argv = calloc(count + 3, sizeof *argv);
    if (!argv)
        return ENOMEM;
    argv[0] = (char[]){"sh"};
    argv[1] = (char *)path;
    for (size_t i = 1; i < count; i++)
        argv[i + 1] = spawn->argv[i];
    number = posix_spawn(&spawn->pid, "/bin/sh", actions, attributes, argv, env);
    free(argv);
    return number;
}

/* PATH of the child's environment. */
static const char *spawn_search_path(char **env)
{
    for (size_t i = 0; env[i]; i++)
        if (strncmp(env[i], "PATH=", 5) == 0)
            return env[i] + 5;
    return "/bin:/usr/bin";
}

/* As execvp(3), with PATH of the child. */
static int spawn_search(struct spawn *spawn, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes)
{
    extern char **environ;
    char **env = spawn->env ? spawn->env : environ;
    char path[PATH_MAX];
    int number = ENOENT;
    bool is_denied = false;

    if (strchr(spawn->file, '/'))
        return spawn_path(spawn, spawn->file, env, actions, attributes);
    for (const char *at = spawn_search_path(env); at; at = strchr(at, ':')) {
        at += *at == ':';
        const int len = (int)strcspn(at, ":");
        const int size =
            snprintf(path, sizeof path, "%.*s%s%s", len, at, len ? "/" : "./", spawn->file);
        if (size < 0 || (size_t)size >= sizeof path)
            continue;
        number = spawn_path(spawn, path, env, actions, attributes);
        is_denied = is_denied || number == EACCES;
        if (number != ENOENT && number != ENOTDIR && number != EACCES)
            return number;
    }
    return is_denied ? EACCES : ENOENT;
}

static int spawn_start(struct spawn *spawn)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    if (posix_spawn_file_actions_init(&actions) || posix_spawnattr_init(&attributes))
        return ENOMEM;
    int number = spawn_streams_open(spawn, &actions);
    if (!number)
        number = spawn_attributes(&attributes);
    if (!number)
        number = spawn_search(spawn, &actions, &attributes);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; i < spawn->n_streams; i++)
        spawn_close(&spawn->streams[i].theirs);
    return number;
}

/* ---- until it ends --------------------------------------------------------------------------- */

/* Ends the program, because of `failure`; what it writes from now on is not read. */
static void spawn_end(struct spawn *spawn, int failure, int signal, double grace_ms)
{
    if (spawn->is_ending)
        return;
    spawn->is_ending = true;
    spawn->failure = failure;
    spawn->deadline = spawn_now() + grace_ms;
    for (size_t i = 0; i < spawn->n_streams; i++)
        spawn_close(&spawn->streams[i].ours);
    if (signal && !spawn->has_ended)
        kill(spawn->pid, signal);
}

static void spawn_output(struct spawn *spawn, struct spawn_stream *stream)
{
    if (stream->room - stream->len < SPAWN_CHUNK) {
        const size_t room = stream->room * 2 + SPAWN_CHUNK;
        char *larger = realloc(stream->bytes, room);
        if (!larger) {
            spawn_end(spawn, ENOBUFS, spawn->signal, SPAWN_GRACE_MS);
            return;
        }
        stream->bytes = larger;
        stream->room = room;
    }
    const ssize_t got = read(stream->ours, stream->bytes + stream->len, SPAWN_CHUNK);
    if (got > 0)
        stream->len += (size_t)got;
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        spawn_close(&stream->ours);
    if ((double)stream->len > spawn->most)
        spawn_end(spawn, ENOBUFS, spawn->signal, SPAWN_GRACE_MS);
}

/* What the program has not read when it closes its input is an error, as in Node.js. */
static void spawn_input(struct spawn *spawn, struct spawn_stream *stream)
{
    ssize_t put = 0;

    if (stream->at < stream->len)
        put = write(stream->ours, stream->bytes + stream->at, stream->len - stream->at);
    if (put > 0)
        stream->at += (size_t)put;
    if (put < 0 && errno == EPIPE && !spawn->failure)
        spawn->failure = EPIPE;
    if (stream->at == stream->len || (put < 0 && errno != EAGAIN && errno != EINTR))
        spawn_close(&stream->ours);
}

/* Waits at most so long, and serves the pipes. False: there are none any more. */
static bool spawn_poll(struct spawn *spawn, int wait_ms)
{
    struct pollfd fds[SPAWN_STREAMS];
    size_t which[SPAWN_STREAMS], count = 0;

    for (size_t i = 0; i < spawn->n_streams; i++) {
        const struct spawn_stream *stream = &spawn->streams[i];
        if (stream->ours < 0)
            continue;
        which[count] = i;
        fds[count++] =
            (struct pollfd){stream->ours, stream->kind == SPAWN_INPUT ? POLLOUT : POLLIN, 0};
    }
    if (!count)
        return false;
    if (poll(fds, count, wait_ms) <= 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        struct spawn_stream *stream = &spawn->streams[which[i]];
        if (!fds[i].revents || stream->ours < 0)
            continue;
        if (stream->kind == SPAWN_INPUT)
            spawn_input(spawn, stream);
        else
            spawn_output(spawn, stream);
    }
    return true;
}

/* Is there something that has to be done by now? Gives the time until the next look. */
static int spawn_judge(struct spawn *spawn)
{
    const double left = spawn->deadline ? spawn->deadline - spawn_now() : SPAWN_POLL_MS;

    if (js_here->is_interrupted && !spawn->is_ending) {
        spawn_end(spawn, EINTR, 0, SPAWN_INTERRUPT_GRACE_MS);
        return SPAWN_INTERRUPT_GRACE_MS;
    }
    if (left > 0)
        return left < SPAWN_POLL_MS ? (int)ceil(left) : SPAWN_POLL_MS;
    if (!spawn->is_ending) {
        spawn_end(spawn, ETIMEDOUT, spawn->signal, SPAWN_GRACE_MS);
        return SPAWN_GRACE_MS;
    }
    if (!spawn->has_ended)
        kill(spawn->pid, SIGKILL);
    spawn->deadline = spawn_now() + SPAWN_GRACE_MS;
    return SPAWN_POLL_MS;
}

/* Has it ended? */
static bool spawn_look(struct spawn *spawn, int flags)
{
    if (!spawn->has_ended) {
        const pid_t rc = waitpid(spawn->pid, &spawn->status, flags);
        spawn->has_ended = rc == spawn->pid || (rc < 0 && errno == ECHILD);
    }
    return spawn->has_ended;
}

/* Until the program has ended and all its outputs are closed. */
static void spawn_wait(struct spawn *spawn)
{
    int pause_ms = 1;

    if (spawn->timeout_ms > 0)
        spawn->deadline = spawn_now() + spawn->timeout_ms;
    for (;;) {
        const int wait_ms = spawn_judge(spawn);
        if (spawn_poll(spawn, wait_ms))
            continue;
        /* Without anything to watch: until it ends, a signal comes, or the time has come. */
        if (spawn_look(spawn, spawn->deadline || js_here->is_interrupted ? WNOHANG : 0))
            return;
        if (!spawn->deadline)
            continue;
        poll(NULL, 0, pause_ms < wait_ms ? pause_ms : wait_ms);
        if (pause_ms < 16)
            pause_ms *= 2;
    }
}

/* ---- the native ------------------------------------------------------------------------------ */

/* [error, pid, status or null, signal or null, output of each stream or null...] */
static JSValueRef spawn_result(JSContextRef context, struct spawn *spawn, int number)
{
    JSValueRef values[4 + SPAWN_STREAMS];
    size_t count = 0;
    const bool is_signal = !number && WIFSIGNALED(spawn->status);

    values[count++] = js_number(context, -(number ? number : spawn->failure));
    values[count++] = js_number(context, number ? 0 : spawn->pid);
    values[count++] = !number && WIFEXITED(spawn->status)
                          ? js_number(context, WEXITSTATUS(spawn->status))
                          : JSValueMakeNull(context);
    values[count++] =
        is_signal ? js_number(context, WTERMSIG(spawn->status)) : JSValueMakeNull(context);
    for (size_t i = 0; i < spawn->n_streams; i++) {
        struct spawn_stream *stream = &spawn->streams[i];
        JSValueRef value = NULL;
        if (stream->kind == SPAWN_OUTPUT) {
            value =
                js_new_bytes(context, stream->bytes ? stream->bytes : malloc(1), stream->len, NULL);
            stream->bytes = NULL;
        }
        values[count++] = value ? value : JSValueMakeNull(context);
    }
    return JSObjectMakeArray(context, count, values, NULL);
}

/* What was printed comes first, also where the program writes to our outputs itself. */
static void spawn_announce(const struct spawn *spawn)
{
    js_flush(js_here);
    for (size_t i = 0; i < spawn->n_streams; i++) {
        const int kind = spawn->streams[i].kind;
        if (kind == STDOUT_FILENO || kind == STDERR_FILENO)
            js_here->services->switch_output(js_here->services->agent, kind);
    }
}

JS_NATIVE(spawn_native)
{
    JS_UNUSED;
    struct spawn spawn = {.pid = 0};
    int number = spawn_read(context, n, arguments, &spawn);

    if (!number) {
        spawn_announce(&spawn);
        number = spawn_start(&spawn);
    }
    if (!number)
        spawn_wait(&spawn);
    JSValueRef result = spawn_result(context, &spawn, number);
    spawn_free(&spawn);
    return result;
}

const struct js_native js_natives_spawn[] = {
    {"spawn", spawn_native},
    {NULL, NULL},
};
