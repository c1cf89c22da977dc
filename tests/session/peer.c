/* SPDX-License-Identifier: MIT */
/* peer.c - the host's side of the protocol in plain system calls. Every wait has a timeout. */
#include "peer.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEER_MEMORY_MOST ((size_t)256 << 20) /* skips the sanitizers' own, much larger maps */

const char *peer_agent(void)
{
    const char *given = getenv("LAZARET_AGENT");

    return given ? given : "./lazaret-agent";
}

const char *peer_plugin(const char *file)
{
    static char path[PATH_MAX];

    return realpath(file, path);
}

static pid_t peer_spawn(const char *const *argv, const char *const *env, int *out)
{
    int pipe_fds[2];

    if (pipe2(pipe_fds, O_CLOEXEC))
        return -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(pipe_fds[1], 1);
        dup2(pipe_fds[1], 2);
        dup2(null, PEER_CANARY);
        execve(argv[0], (char *const *)argv, (char *const *)env);
        _exit(127);
    }
    close(pipe_fds[1]);
    *out = pipe_fds[0];
    return pid;
}

pid_t peer_run(const char *const *argv, int *out)
{
    static const char *const env[] = {"LANG=C.UTF-8", NULL};

    return peer_spawn(argv, env, out);
}

static int peer_listen(struct peer *peer, struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(peer->directory, sizeof peer->directory, "/tmp/lazaret-peer-XXXXXX");
    if (fd < 0 || !mkdtemp(peer->directory))
        return -1;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s/ipc.sock", peer->directory);
    if (bind(fd, (struct sockaddr *)address, sizeof *address) || listen(fd, 1)) {
        close(fd);
        return -1;
    }
    return fd;
}

bool peer_open(struct peer *peer)
{
    struct sockaddr_un address;
    struct timeval wait = {PEER_WAIT_MS / 1000, 0};
    char socket_variable[160];

    *peer = (struct peer){.pid = -1, .fd = -1, .out = -1};
    int listener = peer_listen(peer, &address);
    if (listener >= 0) {
        snprintf(socket_variable, sizeof socket_variable, "LAZARET_SOCKET=%s", address.sun_path);
        const char *argv[] = {peer_agent(), NULL};
        const char *env[] = {"BEFORE=stays", socket_variable, "LAZARET_TOKEN=" PEER_TOKEN,
                             "LANG=C.UTF-8", NULL};
        struct pollfd ready = {listener, POLLIN, 0};
        peer->pid = peer_spawn(argv, env, &peer->out);
        if (poll(&ready, 1, PEER_WAIT_MS) == 1)
            peer->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        setsockopt(peer->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        setsockopt(peer->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
        close(listener);
        unlink(address.sun_path);
    }
    rmdir(peer->directory);
    CU_ASSERT(peer->fd >= 0);
    return peer->fd >= 0;
}

void peer_hang_up(struct peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd);
    peer->fd = -1;
}

void peer_close(struct peer *peer)
{
    peer_hang_up(peer);
    if (peer->pid > 0) {
        kill(peer->pid, SIGKILL);
        waitpid(peer->pid, NULL, 0);
    }
    if (peer->out >= 0)
        close(peer->out);
    laz_buf_fini(&peer->in);
    free(peer->line);
    *peer = (struct peer){.pid = -1, .fd = -1, .out = -1};
}

bool peer_send_bytes(struct peer *peer, const char *data, size_t len)
{
    while (len) {
        ssize_t n = send(peer->fd, data, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

bool peer_send(struct peer *peer, const char *format, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    bool sent =
        len >= 0 && peer_send_bytes(peer, text, (size_t)len) && peer_send_bytes(peer, "\n", 1);
    free(text);
    return sent;
}

const char *peer_line(struct peer *peer)
{
    size_t searched = 0;
    char *end;

    free(peer->line);
    peer->line = NULL;
    while (!(end = peer->in.data ? memchr(peer->in.data + searched, '\n', peer->in.len - searched)
                                 : NULL)) {
        searched = peer->in.len;
        if (!laz_buf_reserve(&peer->in, 1 << 16))
            return NULL;
        ssize_t n = read(peer->fd, peer->in.data + peer->in.len, 1 << 16);
        if (n <= 0)
            return NULL;
        peer->in.len += (size_t)n;
    }
    size_t len = (size_t)(end - peer->in.data);
    peer->line = laz_strndup(peer->in.data, len);
    laz_buf_drop(&peer->in, len + 1);
    return peer->line;
}

bool peer_start(struct peer *peer, const char *options, const char *confine, const char *tools)
{
    const char *file = peer_plugin("tests/mock/.libs/mock_script.so");

    if (!file || !peer_open(peer))
        return false;
    UNIT_TEXT(peer_line(peer), PEER_TOKEN);
    peer_send(peer,
              "{\"type\":\"init\",\"protocol\":1,\"options\":{\"runtime_file\":\"%s\"%s%s},"
              "\"confine\":{%s},\"tools\":[%s]}",
              file, *options ? "," : "", options, confine, tools);
    const char *line = peer_line(peer);
    static const char begin[] = "{\"type\":\"ready\",\"protocol\":1,\"runtime\":\"mock_script\","
                                "\"version\":\"1.2.3\",\"confined\":[\"no_new_privs\",\"core\"";
    CU_ASSERT(line && strncmp(line, begin, strlen(begin)) == 0);
    return line && strstr(line, "\"ready\"");
}

int peer_wait_pid(pid_t pid)
{
    int how = 0;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd ended = {pidfd, POLLIN, 0};

    bool in_time = pidfd >= 0 && poll(&ended, 1, PEER_WAIT_MS) == 1;
    if (pidfd >= 0)
        close(pidfd);
    if (!in_time)
        kill(pid, SIGKILL);
    waitpid(pid, &how, 0);
    if (!in_time)
        return -1;
    return WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
}

int peer_wait(struct peer *peer)
{
    int status = peer_wait_pid(peer->pid);

    peer->pid = -1;
    return status;
}

static char *peer_read(int fd, bool to_the_end)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct pollfd wait = {fd, POLLIN, 0};
    char chunk[4096];
    ssize_t n = 1;

    while (n > 0 && poll(&wait, 1, to_the_end ? PEER_WAIT_MS : 0) == 1) {
        n = read(fd, chunk, sizeof chunk);
        if (n > 0)
            laz_buf_append(&text, chunk, (size_t)n);
    }
    return laz_buf_steal(&text);
}

char *peer_read_all(int fd)
{
    return peer_read(fd, true);
}

char *peer_output(struct peer *peer, bool to_the_end)
{
    return peer_read(peer->out, to_the_end);
}

char *peer_proc(const struct peer *peer, const char *name)
{
    char path[64], text[16384];

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)peer->pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    n = n > 0 ? n : 0;
    for (ssize_t i = 0; i < n; i++)
        if (!text[i])
            text[i] = ' ';
    return laz_strndup(text, (size_t)n);
}

uint32_t peer_memory_find(pid_t pid, const char *const *texts)
{
    char path[64], line[512];
    uint32_t found = 0;

    snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    FILE *maps = fopen(path, "r");
    snprintf(path, sizeof path, "/proc/%ld/mem", (long)pid);
    int memory = open(path, O_RDONLY);
    CU_ASSERT(maps != NULL && memory >= 0);
    while (maps && memory >= 0 && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3 || rights[1] != 'w' ||
            to - from > PEER_MEMORY_MOST)
            continue;
        char *copy = malloc(to - from);
        ssize_t n = copy ? pread(memory, copy, to - from, (off_t)from) : -1;
        for (unsigned i = 0; n > 0 && texts[i]; i++)
            if (!(found >> i & 1) && memmem(copy, (size_t)n, texts[i], strlen(texts[i])))
                found |= UINT32_C(1) << i;
        free(copy);
    }
    if (maps)
        fclose(maps);
    if (memory >= 0)
        close(memory);
    return found;
}

bool peer_memory_has(pid_t pid, const char *text)
{
    return peer_memory_find(pid, (const char *const[]){text, NULL}) != 0;
}
