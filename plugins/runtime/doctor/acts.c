/* SPDX-License-Identifier: MIT */
/* acts.c - attempts on files, sockets, processes and limits, which a box is to refuse.
 *
 * An attempt touches only what the request names, and removes what it makes (children, files of its
 * own directory). Limits are measured by using up the resource, so each act has a bound of its own
 * in case nothing stops it. */
#include "acts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ACTS_MOST  1024 /* processes or descriptors, whatever the request says */
#define ACTS_BLOCK ((size_t)1 << 20)
#define ACTS_MS    5000 /* for an answer of a server, which is there at once; refusals are, too */

static void acts_read(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    int fd = open(order->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, outcome->text, sizeof outcome->text - 1);

    if (n < 0)
        outcome->failed = errno;
    else
        outcome->text[n] = '\0';
    if (fd >= 0)
        close(fd);
}

static void acts_write(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    int fd = open(order->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    if (fd < 0 || write(fd, order->text, strlen(order->text)) < 0)
        outcome->failed = errno;
    if (fd >= 0)
        close(fd);
}

static void acts_connect(int family, const void *address, socklen_t len,
                         struct doctor_outcome *outcome)
{
    int fd = socket(family, SOCK_STREAM, 0); /* no child is executed meanwhile, so no
                                                close-on-exec */

    if (fd < 0 || connect(fd, address, len) != 0)
        outcome->failed = errno;
    if (fd >= 0)
        close(fd);
}

static void acts_port(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    struct sockaddr_in address = {.sin_family = AF_INET};

    address.sin_port = htons((uint16_t)order->number);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    acts_connect(AF_INET, &address, sizeof address, outcome);
}

static void acts_socket(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(order->path);

    if (len >= sizeof address.sun_path) {
        outcome->failed = ENAMETOOLONG;
        return;
    }
    memcpy(address.sun_path, order->path, len);
    if (address.sun_path[0] == '@') /* unix(7): the length of the address delimits an abstract
                                       name */
        address.sun_path[0] = '\0';
    else
        len++;
    acts_connect(AF_UNIX, &address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len),
                 outcome);
}

/* Looks up a name, or reads an address. Its first address; NULL: there is none. */
static struct addrinfo *acts_resolve(const struct doctor_order *order, int type,
                                     struct doctor_outcome *outcome)
{
    const struct addrinfo hints = {.ai_socktype = type, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char port[24];

    snprintf(port, sizeof port, "%lld", (long long)order->number);
    int rc = getaddrinfo(order->text, port, &hints, &found);
    if (rc)
        outcome->failed = rc == EAI_SYSTEM && errno ? errno : ENOENT;
    return rc ? NULL : found;
}

/* False with errno: the server has not let it be so in time. */
static bool acts_await(int fd, short events)
{
    struct pollfd ready = {.fd = fd, .events = events};
    const int n = poll(&ready, 1, ACTS_MS);

    if (n == 0)
        errno = ETIMEDOUT;
    return n > 0;
}

/* Sends `n` bytes to a server, and reads what it answers. A connection proves nothing: of a list it
 * is accepted before there is a server. */
static void acts_talk(const struct doctor_order *order, int type, const void *data, size_t n,
                      struct doctor_outcome *outcome)
{
    struct addrinfo *to = acts_resolve(order, type, outcome);
    int fd = to ? socket(to->ai_family, type, 0) : -1;
    ssize_t got = -1;

    if (!to)
        return;
    if (fd >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
        (connect(fd, to->ai_addr, to->ai_addrlen) == 0 || errno == EINPROGRESS) &&
        (!n || (acts_await(fd, POLLOUT) && send(fd, data, n, MSG_NOSIGNAL) >= 0)) &&
        acts_await(fd, POLLIN))
        got = recv(fd, outcome->text, sizeof outcome->text - 1, 0);
    if (got <= 0)
        outcome->failed = got == 0 ? ECONNABORTED : errno;
    else
        outcome->text[got] = '\0';
    if (fd >= 0)
        close(fd);
    freeaddrinfo(to);
}

static void acts_reach(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    char request[sizeof order->host + 64] = "";

    if (order->host[0])
        snprintf(request, sizeof request, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", order->host);
    acts_talk(order, SOCK_STREAM, request, strlen(request), outcome);
}

/* A question by UDP (RFC 1035): for the address of localhost, which every server of DNS answers. */
static void acts_ask(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    static const char question[] = "\0\1\1\0\0\1\0\0\0\0\0\0\11localhost\0\0\1\0\1";

    acts_talk(order, SOCK_DGRAM, question, sizeof question - 1, outcome);
    if (!outcome->failed)
        outcome->text[0] = '\0';
}

/* Is there a process whose command line contains the text? This process got it by socket, so its
 * own does not. */
static void acts_see(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    outcome->count = doctor_see(order->text, &outcome->failed);
    if (!outcome->count && !outcome->failed)
        outcome->failed = ESRCH;
}

/* Sends SIGUSR1. This process and its parent, the first of a namespace, ignore it: in this
 * namespace the number may mean one of them. */
static void acts_signal(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    if (order->number <= 0 || kill((pid_t)order->number, SIGUSR1) != 0)
        outcome->failed = order->number <= 0 ? EINVAL : errno;
}

static void acts_terminal(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);

    (void)order;
    if (fd < 0)
        outcome->failed = errno;
    else
        close(fd);
}

static void acts_call(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    int failed = doctor_call(order->text);

    outcome->failed = failed < 0 ? ENOENT : failed;
}

/* ---- limits --------------------------------------------------------------------------------- */

/* Runs `work` in `n` children that all live until the last of them is done. Returns the sum of
 * their results, without children that could not be created or ended before they were done. */
static int64_t acts_share(int64_t n, int64_t (*work)(int64_t part), int64_t part, int *failed)
{
    int done[2], gate[2];
    int64_t sum = 0, result;
    char c;

    if (pipe(done) != 0 || pipe(gate) != 0) {
        *failed = errno;
        return 0;
    }
    for (int64_t i = 0; i < n && i < ACTS_MOST; i++) {
        pid_t child = fork();
        if (child == 0) {
            close(done[0]);
            close(gate[1]);
            result = work(part);
            ssize_t told = write(done[1], &result, sizeof result);
            close(done[1]);
            _exit(told == (ssize_t)sizeof result && read(gate[0], &c, 1) == 0 ? 0 : 1);
        }
        if (child < 0) {
            *failed = errno;
            break;
        }
    }
    close(done[1]);
    while (read(done[0], &result, sizeof result) == (ssize_t)sizeof result)
        sum += result;
    close(done[0]);
    close(gate[0]);
    close(gate[1]);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
    return sum;
}

static int64_t acts_burn_here(int64_t ms)
{
    struct timespec now;
    volatile int step;

    do { /* the clock is a system call: most of the time is to be the process's own */
        for (step = 0; step < 100000; step++)
            ;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
    return ms;
}

static void acts_burn(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    if (order->among)
        outcome->count = acts_share(order->among, acts_burn_here, order->number / order->among,
                                    &outcome->failed);
    else
        outcome->count = acts_burn_here(order->number + now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

/* Allocates memory and writes to it; it stays in use until the process ends. */
static int64_t acts_memory_here(int64_t bytes)
{
    int64_t got = 0;

    while (got < bytes) {
        char *block =
            mmap(NULL, ACTS_BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            break;
        memset(block, 1, ACTS_BLOCK);
        got += (int64_t)ACTS_BLOCK;
    }
    return got;
}

static void acts_memory(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    int64_t n = order->among ? order->among : 1;

    outcome->count = acts_share(n, acts_memory_here, order->number / n, &outcome->failed);
    if (outcome->count < order->number / n * n && !outcome->failed)
        outcome->failed = ENOMEM;
}

static void acts_file(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    static const char block[4096];
    int fd = open(order->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t n = fd < 0 ? -1 : 0;

    while (n >= 0 && outcome->count < order->number) {
        n = write(fd, block, sizeof block);
        outcome->count += n > 0 ? n : 0;
    }
    if (n < 0)
        outcome->failed = errno;
    if (fd >= 0) {
        close(fd);
        unlink(order->path);
    }
}

static int64_t acts_live(int64_t part)
{
    return part;
}

static void acts_processes(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    outcome->count = acts_share(order->number, acts_live, 1, &outcome->failed);
}

static void acts_files(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    int fds[ACTS_MOST];
    int n = 0;

    while (n < order->number && n < ACTS_MOST) {
        fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (fds[n] < 0) {
            outcome->failed = errno;
            break;
        }
        n++;
    }
    outcome->count = n;
    while (n > 0)
        close(fds[--n]);
}

static const struct {
    const char *name;
    void (*run)(const struct doctor_order *order, struct doctor_outcome *outcome);
} acts_table[] = {
    {"read", acts_read},         {"write", acts_write}, {"port", acts_port},
    {"socket", acts_socket},     {"see", acts_see},     {"signal", acts_signal},
    {"terminal", acts_terminal}, {"call", acts_call},   {"burn", acts_burn},
    {"memory", acts_memory},     {"file", acts_file},   {"processes", acts_processes},
    {"files", acts_files},       {"reach", acts_reach}, {"ask", acts_ask},
};

int doctor_try(const struct doctor_order *order, struct doctor_outcome *outcome)
{
    for (size_t i = 0; i < sizeof acts_table / sizeof *acts_table; i++) {
        if (strcmp(acts_table[i].name, order->act) == 0) {
            acts_table[i].run(order, outcome);
            return 0;
        }
    }
    return -1;
}
