/* SPDX-License-Identifier: MIT */
/* lines.c - a client that measures servers of the host protocol, however they are reached:
 *     lazaret-lines KIND SAMPLES OUTSTANDING SESSIONS CONNECTIONS COMMAND...
 *     lazaret-lines ping SAMPLES HOST PORT | lazaret-lines echo HOST PORT
 *
 * COMMAND is started once for each connection, with pipes.  KIND is open (until "opened"), fresh (a
 * whole session for one execution), execute, tool (from one answer to the next call), value=BYTES
 * (an execution with such a value), or hold (execute, after a line of standard input).  Each sample
 * is printed in microseconds; `ready` and `took` have seconds.  ping and echo are the floor: a
 * request and its reply between two clients of a NATS server. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS 100 /* of a tool in an execution */
#define TOOL                                                                                       \
    "{\"type\":\"tools\",\"id\":1,\"tools\":[{\"name\":\"own\",\"parameters\":[{\"name\":\"x\","   \
    "\"type\":\"string\"}]}]}\n"

enum phase { FREE, OPENING, WARMING, READY, MEASURED, CLOSING };

struct conn {
    int in, out;
    long id;
    char *data;
    size_t len, seen, cap;
};

struct slot {
    struct conn *conn;
    enum phase phase;
    long id, session;
    double began;
};

static struct conn *conns;
static struct slot *slots;
static struct pollfd *polls;
static int n_conns, n_slots, n_ready, n_next, outstanding;
static long wanted, asked, got, dropped;
static const char *kind;
static char code[200];
static double begun;
static bool measures, holds;

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void fail(const char *what, const char *more)
{
    fprintf(stderr, "lazaret-lines: %s: %.500s\n", what, more);
    exit(1);
}

static void put_all(int fd, const char *text, size_t len)
{
    while (len) {
        const ssize_t n = write(fd, text, len);
        if (n < 0 && errno != EINTR)
            fail("a connection has ended", strerror(errno));
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

static bool is_kind(const char *name)
{
    return strcmp(kind, name) == 0;
}

/* ---- what is asked ----------------------------------------------------------------------------
 */

static void ask(struct slot *slot, enum phase phase, const char *type, const char *execute)
{
    char line[600];
    int n = snprintf(line, sizeof line, "{\"type\":\"%s\",\"id\":%ld", type,
                     slot->id = ++slot->conn->id);

    slot->phase = phase;
    if (slot->session)
        n += snprintf(line + n, sizeof line - (size_t)n, ",\"session\":%ld", slot->session);
    else
        n += snprintf(line + n, sizeof line - (size_t)n, ",\"runtime\":\"lua\"");
    if (execute)
        n += snprintf(line + n, sizeof line - (size_t)n, ",\"print\":false,\"code\":\"%s\"",
                      execute);
    n += snprintf(line + n, sizeof line - (size_t)n, "}\n");
    slot->began = now_us();
    put_all(slot->conn->in, line, (size_t)n);
}

/* The next one that is free measures the next. */
static void measure(void)
{
    struct slot *slot;

    if (asked == wanted)
        return;
    while ((slot = &slots[n_next++ % n_slots])->phase != READY) {
    }
    asked++;
    if (is_kind("open"))
        ask(slot, MEASURED, "open", NULL);
    else
        ask(slot, MEASURED, "execute", code);
}

static void sample(double took)
{
    if (dropped < (holds ? 0 : outstanding))
        dropped++; /* the first ones are not warm */
    else
        printf("%.1f\n", took);
}

static void measure_all(void)
{
    if (holds) {
        printf("ready %.6f\n", (now_us() - begun) / 1e6);
        fflush(stdout);
        if (getchar() == EOF)
            fail("standard input", "it has ended");
    }
    measures = true;
    begun = now_us();
    for (int i = 0; i < outstanding; i++)
        measure();
}

/* Sessions that are used again are opened first. */
static void prepare(void)
{
    if (n_ready == n_slots)
        measure_all();
    else if (n_next < n_slots)
        ask(&slots[n_next++], OPENING, "open", NULL);
}

/* ---- what is answered -------------------------------------------------------------------------
 */

static long number(const char *line, const char *name)
{
    const char *found = strstr(line, name);

    return found ? strtol(found + strlen(name), NULL, 10) : 0;
}

static void answered(struct slot *slot, const char *line)
{
    const double now = now_us();

    switch (slot->phase) {
    case OPENING:
        slot->session = number(line, "\"session\":");
        ask(slot, WARMING, "execute", "x = 1");
        return;
    case WARMING:
        slot->phase = READY;
        n_ready++;
        prepare();
        return;
    case MEASURED:
        got++;
        if (!is_kind("tool"))
            sample(now - slot->began);
        slot->phase = READY;
        if (is_kind("open")) {
            slot->session = number(line, "\"session\":");
            ask(slot, CLOSING, "close", NULL);
        } else {
            measure();
        }
        return;
    case CLOSING:
        slot->session = 0;
        slot->phase = READY;
        measure();
        return;
    default:
        fail("unexpected", line);
    }
}

static void called(struct slot *slot, long call)
{
    char line[100];

    if (measures && slot->began < 0)
        sample(now_us() + slot->began);
    const int n =
        snprintf(line, sizeof line, "{\"type\":\"answer\",\"call\":%ld,\"value\":1}\n", call);
    slot->began = -now_us();
    put_all(slot->conn->in, line, (size_t)n);
}

static void take(struct conn *conn, char *line)
{
    const char saved = strlen(line) > 300 ? line[300] : '\0';
    struct slot *slot = NULL;

    if (strncmp(line, "{\"type\":\"hello\"", 15) == 0 ||
        strncmp(line, "{\"type\":\"tool_cancelled\"", 24) == 0)
        return;
    if (saved)
        line[300] = '\0';
    const long id = number(line, "\"id\":");
    if (strncmp(line, "{\"type\":\"failed\"", 16) == 0 || strstr(line, "\"ok\":false"))
        fail("failed", line);
    if (id == 1) /* its tools */
        return;
    for (int i = (int)(conn - conns); i < n_slots && !slot; i += n_conns)
        slot = slots[i].id == id ? &slots[i] : NULL;
    if (!slot)
        fail("for nobody", line);
    if (strncmp(line, "{\"type\":\"tool_call\"", 19) == 0)
        called(slot, number(line, "\"call\":"));
    else
        answered(slot, line);
}

static void take_lines(struct conn *conn)
{
    char *end, *from = conn->data;

    if (conn->cap < conn->len + (1 << 18) + 1) {
        conn->cap = conn->cap * 2 + (1 << 19);
        conn->data = realloc(conn->data, conn->cap);
        if (!conn->data)
            fail("memory", "");
        from = conn->data;
    }
    const ssize_t n = read(conn->out, conn->data + conn->len, 1 << 18);
    if (n <= 0)
        fail("a connection has ended", n ? strerror(errno) : "");
    conn->len += (size_t)n;
    char *stop = conn->data + conn->len, *look = conn->data + conn->seen;
    while ((end = memchr(look, '\n', (size_t)(stop - look)))) {
        *end = '\0';
        take(conn, from);
        from = look = end + 1;
    }
    conn->len = (size_t)(stop - from);
    memmove(conn->data, from, conn->len);
    conn->seen = conn->len;
}

/* ---- connections ------------------------------------------------------------------------------
 */

static void start(struct conn *conn, char **command)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        fail("pipe", strerror(errno));
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execvp(command[0], command);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    *conn = (struct conn){.in = in[1], .out = out[0], .id = 1};
    put_all(conn->in, TOOL, sizeof TOOL - 1);
}

static void run(void)
{
    for (int i = 0; i < n_conns; i++) { /* its hello */
        take_lines(&conns[i]);
        polls[i] = (struct pollfd){.fd = conns[i].out, .events = POLLIN};
    }
    begun = now_us();
    if (is_kind("open") || is_kind("fresh"))
        measure_all();
    else
        for (int i = 0; i < outstanding; i++)
            prepare();
    while (got < wanted) {
        if (poll(polls, (nfds_t)n_conns, -1) < 0)
            fail("poll", strerror(errno));
        for (int i = 0; i < n_conns; i++)
            if (polls[i].revents)
                take_lines(&conns[i]);
    }
    printf("took %.6f\n", (now_us() - begun) / 1e6);
}

static int lines(int argc, char **argv)
{
    if (argc < 7)
        fail("usage", "see its source");
    kind = argv[1];
    wanted = atol(argv[2]);
    outstanding = atoi(argv[3]);
    n_slots = atoi(argv[4]);
    n_conns = atoi(argv[5]);
    holds = is_kind("hold");
    if (wanted < 1 || outstanding < 1 || n_slots < outstanding || n_conns < 1)
        fail("usage", "numbers");
    snprintf(code, sizeof code, "x = 1");
    if (is_kind("tool"))
        snprintf(code, sizeof code, "for i = 1, %d do own('x') end", CALLS);
    if (strncmp(kind, "value=", 6) == 0)
        snprintf(code, sizeof code, "return string.rep('x', %ld)", atol(kind + 6));
    conns = calloc((size_t)n_conns, sizeof *conns);
    polls = calloc((size_t)n_conns, sizeof *polls);
    slots = calloc((size_t)n_slots, sizeof *slots);
    if (!conns || !polls || !slots)
        fail("memory", "");
    for (int i = 0; i < n_conns; i++)
        start(&conns[i], argv + 6);
    for (int i = 0; i < n_slots; i++)
        slots[i] = (struct slot){.conn = &conns[i % n_conns],
                                 .phase = is_kind("open") || is_kind("fresh") ? READY : FREE};
    run();
    fflush(stdout);
    for (int i = 0; i < n_conns; i++)
        close(conns[i].in);
    for (int i = 0; i < n_conns;
         i++) /* so that nothing of it is left when another row is measured */
        while (read(conns[i].out, conns[i].data, conns[i].cap) > 0) {
        }
    while (wait(NULL) > 0) {
    }
    return 0;
}

/* ---- a request and its reply on a bus ---------------------------------------------------------
 */

static int bus_connect(const char *host, const char *port, const char *subscribe)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    const int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    char text[4096], all[200];

    inet_pton(AF_INET, host, &address.sin_addr);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
        fail(host, strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (read(fd, text, sizeof text) <= 0)
        fail(host, "no INFO");
    put_all(fd, all,
            (size_t)snprintf(all, sizeof all, "CONNECT {\"verbose\":false}\r\nSUB %s 1\r\nPING\r\n",
                             subscribe));
    for (ssize_t n = 0; n <= 0 || !memmem(text, (size_t)n, "PONG", 4);)
        if ((n = read(fd, text, sizeof text)) <= 0)
            fail(host, "no PONG");
    return fd;
}

/* One message at a time, of 200 bytes. */
static int bus(int argc, char **argv)
{
    const bool echoes = strcmp(argv[1], "echo") == 0;
    const long n = echoes ? -1 : atol(argv[2]);
    const int fd =
        bus_connect(argv[argc - 2], argv[argc - 1], echoes ? "bench.there" : "bench.back");
    char line[400], text[65536];
    const int len = snprintf(line, sizeof line, "PUB bench.%s 200\r\n%200s\r\n",
                             echoes ? "back" : "there", "x");

    if (echoes) {
        printf("ready\n");
        fflush(stdout);
    }
    for (long i = 0; i != n; i++) {
        const double began = now_us();
        if (!echoes)
            put_all(fd, line, (size_t)len);
        for (size_t have = 0;
             !have || text[have - 1] != '\n' || !memmem(text, have, "MSG", 3) || have < 200;) {
            const ssize_t got_now = read(fd, text + have, sizeof text - have);
            if (got_now <= 0)
                return echoes ? 0 : 1;
            have += (size_t)got_now;
            if (have >= 6 && memcmp(text, "PING\r\n", 6) == 0) {
                put_all(fd, "PONG\r\n", 6);
                memmove(text, text + 6, have -= 6);
            }
        }
        if (echoes)
            put_all(fd, line, (size_t)len);
        else
            printf("%.1f\n", now_us() - began);
    }
    return 0;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc == 5 && strcmp(argv[1], "ping") == 0)
        return bus(argc, argv);
    if (argc == 4 && strcmp(argv[1], "echo") == 0)
        return bus(argc, argv);
    return lines(argc, argv);
}
