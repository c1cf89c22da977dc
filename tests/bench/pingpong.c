/* SPDX-License-Identifier: MIT */
/* pingpong.c - two processes that pass lines over a Unix socket, each with a libuv loop. */
#include "pingpong.h"

#include "os/descriptors.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

struct pingpong {
    pid_t child;
    uv_loop_t loop;
    uv_pipe_t pipe;
    char *request, *answer;
    size_t request_len, answer_len;
    size_t wanted, got; /* bytes of the awaited line */
    bool echo;          /* this is the other process, which answers each line */
    char data[65536];
};

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void pingpong_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct pingpong *pingpong = handle->data;

    (void)size;
    *buf = uv_buf_init(pingpong->data, sizeof pingpong->data);
}

static void pingpong_written(uv_write_t *write, int status)
{
    if (status && status != UV_ECANCELED)
        abort();
    free(write);
}

/* Writes a line; the part that does not fit into the socket follows later. */
static void pingpong_write(struct pingpong *pingpong, char *text, size_t len)
{
    uv_stream_t *stream = (uv_stream_t *)&pingpong->pipe;
    uv_buf_t buf = uv_buf_init(text, (unsigned)len);

    int n = uv_try_write(stream, &buf, 1);
    if (n == (int)len)
        return;
    uv_write_t *write = n >= 0 || n == UV_EAGAIN ? malloc(sizeof *write) : NULL;
    if (n > 0)
        buf = uv_buf_init(text + n, (unsigned)(len - (size_t)n));
    if (!write || uv_write(write, stream, &buf, 1, pingpong_written))
        abort();
}

static void pingpong_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct pingpong *pingpong = stream->data;

    (void)buf;
    if (n < 0) {
        uv_stop(&pingpong->loop);
        return;
    }
    pingpong->got += (size_t)n;
    if (pingpong->got < pingpong->wanted)
        return;
    pingpong->got = 0;
    if (pingpong->echo)
        pingpong_write(pingpong, pingpong->answer, pingpong->answer_len);
    else
        uv_stop(&pingpong->loop);
}

static void pingpong_open(struct pingpong *pingpong, int fd)
{
    uv_loop_init(&pingpong->loop);
    uv_pipe_init(&pingpong->loop, &pingpong->pipe, 0);
    pingpong->pipe.data = pingpong;
    if (uv_pipe_open(&pingpong->pipe, fd) ||
        uv_read_start((uv_stream_t *)&pingpong->pipe, pingpong_alloc, pingpong_read))
        abort();
}

static char *pingpong_line(size_t len)
{
    char *line = malloc(len);

    if (!line)
        abort();
    memset(line, 'x', len);
    line[len - 1] = '\n';
    return line;
}

struct pingpong *pingpong_start(size_t request, size_t answer)
{
    struct pingpong *pingpong = calloc(1, sizeof *pingpong);
    int ends[2];

    if (!pingpong || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        free(pingpong);
        return NULL;
    }
    pingpong->request = pingpong_line(request);
    pingpong->answer = pingpong_line(answer);
    pingpong->request_len = request;
    pingpong->answer_len = answer;
    pingpong->child = fork();
    if (pingpong->child == 0) {
        laz_os_close_from(3, ends[1]); /* do not keep descriptors of sessions open */
        pingpong->echo = true;
        pingpong->wanted = request;
        pingpong_open(pingpong, ends[1]);
        uv_run(&pingpong->loop, UV_RUN_DEFAULT);
        _exit(0);
    }
    close(ends[1]);
    pingpong->wanted = answer;
    pingpong_open(pingpong, ends[0]);
    return pingpong;
}

double pingpong_once(struct pingpong *pingpong)
{
    double before = now_us();

    pingpong_write(pingpong, pingpong->request, pingpong->request_len);
    uv_run(&pingpong->loop, UV_RUN_DEFAULT);
    return now_us() - before;
}

void pingpong_stop(struct pingpong *pingpong)
{
    if (!pingpong)
        return;
    uv_close((uv_handle_t *)&pingpong->pipe, NULL);
    uv_run(&pingpong->loop, UV_RUN_DEFAULT);
    uv_loop_close(&pingpong->loop);
    kill(pingpong->child, SIGKILL);
    waitpid(pingpong->child, NULL, 0);
    free(pingpong->request);
    free(pingpong->answer);
    free(pingpong);
}
