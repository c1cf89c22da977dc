/* SPDX-License-Identifier: MIT */
/* network_world.c - a network of its own for a test of connections. */
#include "network_world.h"

#include "os/descriptors.h"
#include "os/pidfd.h"
#include "os/spawner.h"
#include "unit.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void world_fail(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s (errno: %s)\n", file, line, what, strerror(errno));
    _exit(1);
}

/* ---- this process ---------------------------------------------------------------------------- */

static bool world_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    laz_os_close(&fd);
    return done;
}

/* Every address of either family is this machine's. */
static bool world_loopback(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    struct {
        struct nlmsghdr head;
        struct rtmsg route;
        struct rtattr attribute;
        int index;
    } wish = {.head = {sizeof wish, RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_CREATE, 1, 0},
              .attribute = {sizeof(struct rtattr) + sizeof(int), RTA_OIF}};
    int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    bool done = ioctl(udp, SIOCSIFFLAGS, &lo) == 0;

    wish.index = (int)if_nametoindex("lo");
    for (int six = 0; six < 2; six++) {
        wish.route = (struct rtmsg){.rtm_family = six ? AF_INET6 : AF_INET,
                                    .rtm_table = RT_TABLE_LOCAL,
                                    .rtm_protocol = RTPROT_BOOT,
                                    .rtm_scope = RT_SCOPE_HOST,
                                    .rtm_type = RTN_LOCAL};
        done = send(netlink, &wish, sizeof wish, 0) > 0 && done;
    }
    laz_os_close(&udp);
    laz_os_close(&netlink);
    return done;
}

bool world_begin(void)
{
    char map[64];
    const unsigned uid = geteuid(), gid = getegid();

    signal(SIGPIPE, SIG_IGN);
    if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNET : CLONE_NEWNET) != 0)
        return false;
    if (uid) {
        snprintf(map, sizeof map, "0 %u 1", uid);
        (void)world_write("/proc/self/uid_map", map);
        (void)world_write("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "0 %u 1", gid);
        (void)world_write("/proc/self/gid_map", map);
    }
    return world_loopback();
}

static void world_is_missing(void)
{
    unit_skip("network-namespaces", "no network namespace can be made here");
}

const struct unit_test world_missing[] = {UNIT(world_is_missing), {0}};

/* ---- servers --------------------------------------------------------------------------------- */

#define SERVERS_MOST  16
#define SERVER_PEERS  600
#define SERVER_ANSWER 4096
#define SERVER_NAMES  32

static pid_t servers[SERVERS_MOST];
static size_t n_servers;
static struct world_dns_state {
    unsigned asked[SERVER_NAMES], next[SERVER_NAMES], others;
} * dns_state;

static void servers_add(pid_t pid)
{
    CU_ASSERT_FATAL(pid > 0 && n_servers < SERVERS_MOST);
    servers[n_servers++] = pid;
}

void world_end_servers(void)
{
    while (n_servers) {
        kill(servers[--n_servers], SIGKILL);
        waitpid(servers[n_servers], NULL, 0);
    }
    if (dns_state)
        munmap(dns_state, sizeof *dns_state);
    dns_state = NULL;
}

static int server_socket(int type, const char *address, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    const int on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (inet_pton(AF_INET, address, &at.sin_addr) != 1 ||
        bind(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        (type == SOCK_STREAM && listen(fd, 512) != 0))
        world_fail("a server of the test", address, port);
    return fd;
}

/* The records of a name, those of the family that was asked for. */
static size_t dns_records(const struct world_name *name, unsigned *next, bool six, uint8_t *at)
{
    unsigned n_known = 0;
    uint8_t *end = at;

    while (n_known < 8 && name->addresses[n_known])
        n_known++;
    for (unsigned i = 0; i < name->n && n_known; i++) {
        const char *text = name->addresses[(*next + i) % n_known];
        const uint8_t head[] = {0xc0, 12, 0, six ? 28 : 1, 0, 1, 0, 0, 0, 0, 0, six ? 16 : 4};
        uint8_t address[16];
        if (!strchr(text, ':') == six || inet_pton(six ? AF_INET6 : AF_INET, text, address) != 1)
            continue;
        memcpy(end, head, sizeof head);
        memcpy(end + sizeof head, address, six ? 16 : 4);
        end += sizeof head + (six ? 16 : 4);
    }
    if (!six)
        *next += name->n;
    return (size_t)(end - at);
}

/* An answer to a query, in place. 0: none. */
static size_t dns_answer(const struct world_name *names, size_t n, uint8_t *query, size_t len)
{
    char name[256] = "";
    size_t at = 12, out = 0;

    while (at < len && query[at]) {
        if (out)
            name[out++] = '.';
        memcpy(name + out, query + at + 1, query[at]);
        out += query[at];
        at += 1u + query[at];
    }
    const bool six = query[at + 2] == 28;
    at += 5;
    memset(query + 6, 0, 6);
    query[2] = 0x81;
    query[3] = 0x80;
    for (size_t i = 0; i < n; i++) {
        if (strcasecmp(name, names[i].name) != 0)
            continue;
        dns_state->asked[i]++;
        if (names[i].is_silent)
            return 0;
        const size_t size = dns_records(&names[i], &dns_state->next[i], six, query + at);
        query[7] = (uint8_t)(size / (six ? 28 : 16));
        return at + size;
    }
    dns_state->others++;
    query[3] = 0x83; /* no such name */
    return at;
}

void world_dns(const struct world_name *names, size_t n)
{
    uint8_t packet[SERVER_ANSWER];
    struct sockaddr_in from;
    int fd = server_socket(SOCK_DGRAM, "127.0.0.1", 5300);

    dns_state =
        mmap(NULL, sizeof *dns_state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(dns_state != MAP_FAILED && n <= SERVER_NAMES);
    pid_t pid = fork();
    while (pid == 0) {
        socklen_t size = sizeof from;
        ssize_t len = recvfrom(fd, packet, 512, 0, (struct sockaddr *)&from, &size);
        const size_t answer = len > 16 ? dns_answer(names, n, packet, (size_t)len) : 0;
        if (answer)
            sendto(fd, packet, answer, 0, (struct sockaddr *)&from, size);
    }
    laz_os_close(&fd);
    servers_add(pid);
}

unsigned world_asked(const struct world_name *names, const char *name)
{
    size_t i = 0;

    while (name && strcmp(names[i].name, name) != 0)
        i++;
    return name ? dns_state->asked[i] : dns_state->others;
}

uint8_t world_byte(uint64_t at)
{
    return (uint8_t)(at * 167 ^ at >> 13);
}

uint32_t world_sum(uint32_t sum, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum = (sum << 5 | sum >> 27) ^ data[i];
    return sum;
}

static void server_all(int fd, const void *data, size_t len)
{
    const char *at = data;

    while (len) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        if (n <= 0)
            _exit(0);
        at += n;
        len -= (size_t)n;
    }
}

static void server_greet(int fd)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    char text[32], line[64];

    getsockname(fd, (struct sockaddr *)&at, &size);
    inet_ntop(AF_INET, &at.sin_addr, text, sizeof text);
    server_all(fd, line, (size_t)snprintf(line, sizeof line, "%s\n", text));
}

static void server_http(int fd, bool switches)
{
    char head[8192], answer[512];
    size_t len = 0;
    ssize_t n;

    while ((n = recv(fd, head + len, sizeof head - 1 - len, 0)) > 0) {
        len += (size_t)n;
        head[len] = '\0';
        char *end;
        while ((end = strstr(head, "\r\n\r\n"))) {
            const int first = (int)strcspn(head, "\r");
            const int size =
                snprintf(answer, sizeof answer,
                         switches ? "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                                    "Connection: upgrade\r\n\r\n"
                                  : "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%.*s\n",
                         first + 1, first, head);
            server_all(fd, answer, (size_t)size);
            len -= (size_t)(end + 4 - head);
            memmove(head, end + 4, len + 1);
            if (!switches)
                continue;
            server_all(fd, head, len);
            while ((n = recv(fd, head, sizeof head, 0)) > 0)
                server_all(fd, head, (size_t)n);
            return;
        }
    }
}

static void server_source(int fd)
{
    uint8_t data[65536];
    char line[64] = "";
    uint64_t at = 0;

    if (recv(fd, line, sizeof line - 1, 0) <= 0)
        return;
    const uint64_t all = strtoull(line, NULL, 10);
    while (at < all) {
        size_t len = all - at < sizeof data ? (size_t)(all - at) : sizeof data;
        for (size_t i = 0; i < len; i++)
            data[i] = world_byte(at + i);
        server_all(fd, data, len);
        at += len;
    }
}

static void server_sink(int fd)
{
    static uint8_t data[65536];
    char line[16];
    uint32_t sum = 0;
    ssize_t n;

    while ((n = recv(fd, data, sizeof data, 0)) > 0)
        sum = world_sum(sum, data, (size_t)n);
    server_all(fd, line, (size_t)snprintf(line, sizeof line, "%08x\n", sum));
}

/* A ServerHello that asks for another ClientHello (RFC 8446, 4.1.3), cut short. */
static const uint8_t world_retry[43] = {
    22,   3,    3,    0,    38,   2,    0,    0,    34,   3,    3,    0xcf, 0x21, 0xad, 0x74,
    0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11,
    0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

static void server_one(enum world_server what, int fd)
{
    const struct linger at_once = {1, 0};
    char data[65536];
    ssize_t n;

    switch (what) {
    case WORLD_ECHO:
        server_greet(fd);
        while ((n = recv(fd, data, sizeof data, 0)) > 0)
            server_all(fd, data, (size_t)n);
        break;
    case WORLD_SINK:
        server_sink(fd);
        break;
    case WORLD_SOURCE:
        server_source(fd);
        break;
    case WORLD_RETRY:
        n = recv(fd, data, sizeof data, 0);
        server_all(fd, world_retry, n > 0 ? sizeof world_retry : 0);
        while ((n = recv(fd, data, sizeof data, 0)) > 0)
            server_all(fd, data, (size_t)n);
        break;
    case WORLD_RESET:
        (void)recv(fd, data, 1, 0);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        break;
    case WORLD_HTTP:
    case WORLD_SWITCH:
        server_http(fd, what == WORLD_SWITCH);
        break;
    case WORLD_SILENT:
        while (recv(fd, data, sizeof data, 0) > 0)
            ;
        break;
    }
}

void world_serve(enum world_server what, const char *address, uint16_t port)
{
    int listener = server_socket(SOCK_STREAM, address, port);
    pid_t pid = fork();

    if (pid == 0)
        signal(SIGCHLD, SIG_IGN);
    while (pid == 0) { /* a child for each connection, which ends with it */
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0 && fork() == 0) {
            laz_os_close(&listener);
            server_one(what, fd);
            close(fd);
            _exit(0);
        }
        laz_os_close(&fd);
    }
    laz_os_close(&listener);
    servers_add(pid);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static int world_descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(all))
        n++;
    closedir(all);
    return n;
}

static void world_denied_one(void *user, const struct laz_denial *denial)
{
    struct world *world = user;

    world->n_denials++;
    if (getenv("WORLD_TELLS"))
        fprintf(stderr, "denied %d: %s %s port %u: %s\n", (int)denial->what, denial->name,
                denial->address, (unsigned)denial->port, denial->detail);
    (void)laz_denials_add(&world->denials, denial);
}

struct laz_network_rules *world_rules(const char *const *allow, uint64_t connections,
                                      uint64_t bytes)
{
    struct laz_strv texts = LAZ_STRV_INIT, ports = LAZ_STRV_INIT, hosts = LAZ_STRV_INIT;
    struct laz_network_wish wish = {.allow = &texts,
                                    .hosts = &hosts,
                                    .host_ports = &ports,
                                    .resolver = WORLD_DNS,
                                    .deny_private = true,
                                    .max_connections = connections,
                                    .max_bytes = bytes};
    struct laz_network_rules *rules = NULL;
    struct laz_error err = {0};

    while (*allow)
        laz_strv_add(&texts, *allow++);
    laz_strv_add(&ports, "7000");
    laz_strv_add(&hosts, "fixed.example=10.9.9.9");
    if (laz_network_rules_new(&wish, &rules, NULL, &err))
        fprintf(stderr, "%s\n", err.text);
    laz_strv_fini(&texts);
    laz_strv_fini(&ports);
    laz_strv_fini(&hosts);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
    return rules;
}

/* A process with a network of its own, in which nothing runs. */
static void world_hold(struct world *world)
{
    char path[64], byte;
    int ends[2];

    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&ends[0], &ends[1], NULL), 0);
    world->holder = fork();
    if (world->holder == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        MUST(unshare(CLONE_NEWNET) == 0 && write(ends[1], "r", 1) == 1);
        for (;;)
            pause();
    }
    laz_os_close(&ends[1]);
    CU_ASSERT_EQUAL_FATAL(read(ends[0], &byte, 1), 1);
    laz_os_close(&ends[0]);
    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)world->holder);
    world->space = open(path, O_RDONLY | O_CLOEXEC);
    CU_ASSERT_FATAL(world->space >= 0);
}

static void world_start_network(struct world *world)
{
    const struct laz_network_owner owner = {.user = world, .denied = world_denied_one};
    struct laz_os_network_of of = {.uid = LAZ_SPAWN_SAME_ID};
    struct laz_os_network sockets = LAZ_OS_NETWORK_NONE;
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    struct laz_error err = {0};
    const size_t n = laz_network_rules_ports(world->rules, ports);

    world_hold(world);
    world->descriptors = world_descriptors();
    of.pid = world->holder;
    of.pidfd = laz_os_pidfd(of.pid);
    if (laz_os_network_listen(&of, ports, n, &sockets, &err) ||
        laz_network_start(world->shared, world->rules, &sockets, &owner, &world->network, &err))
        fprintf(stderr, "%s\n", err.text);
    laz_os_close(&of.pidfd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(world->network);
}

void world_open_bounded(struct world *world, const char *const *allow, uint64_t connections,
                        uint64_t bytes)
{
    *world = (struct world){.end = -1, .owns = true};
    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&world->driver.loop, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_network_shared_new(&world->driver, &world->shared, NULL), 0);
    world->rules = world_rules(allow, connections, bytes);
    world_start_network(world);
}

void world_open(struct world *world, const char *const *allow)
{
    world_open_bounded(world, allow, 1000, UINT64_MAX);
}

void world_open_beside(struct world *world, struct world *first, const char *const *allow)
{
    *world = (struct world){.driver = first->driver, .shared = first->shared, .end = -1};
    world->rules = world_rules(allow, 1000, UINT64_MAX);
    world_start_network(world);
}

void world_close(struct world *world)
{
    laz_network_stop(world->network);
    laz_network_rules_drop(world->rules);
    laz_denials_fini(&world->denials);
    if (world->owns) {
        laz_network_shared_free(world->shared);
        CU_ASSERT_EQUAL(world_descriptors(), world->descriptors);
    }
    laz_os_close(&world->space);
    kill(world->holder, SIGKILL);
    CU_ASSERT_EQUAL(waitpid(world->holder, NULL, 0), world->holder);
    if (!world->owns)
        return;
    CU_ASSERT_EQUAL(laz_loop_handles(world->driver.loop), 0);
    laz_loop_free(world->driver.loop);
}

void world_until(struct world *world, unsigned connections)
{
    while (laz_network_connections(world->network) != connections)
        laz_loop_step(world->driver.loop, LAZ_LOOP_FOREVER);
}

void world_settle(struct world *world)
{
    for (int i = 0; i < 20; i++)
        laz_loop_step(world->driver.loop, 0);
}

static void world_heard(void *user, uint32_t events)
{
    struct world *world = user;
    ssize_t n = read(world->end, world->said + world->n_said, sizeof world->said - world->n_said);

    (void)events;
    if (n > 0) {
        world->n_said += (size_t)n;
        return;
    }
    laz_io_stop(world->io);
    world->io = NULL;
    laz_os_close(&world->end);
}

static int box_end = -1;

void world_start(struct world *world, void (*act)(void *user), void *user)
{
    int ends[2];

    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    world->n_said = 0;
    world->end = ends[0];
    world->child = fork();
    if (world->child == 0) {
        box_end = ends[1];
        laz_os_close(&world->end);
        MUST(setns(world->space, CLONE_NEWNET) == 0);
        act(user);
        _exit(0);
    }
    laz_os_close(&ends[1]);
    world->io = laz_io_start(world->driver.loop, world->end, LAZ_IO_READ, world_heard, world);
    CU_ASSERT_FATAL(world->child > 0 && world->io != NULL);
}

void world_finish(struct world *world)
{
    int status = -1;

    while (world->io)
        laz_loop_step(world->driver.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_EQUAL(waitpid(world->child, &status, 0), world->child);
    CU_ASSERT_EQUAL(status, 0);
}

void world_kill(struct world *world)
{
    kill(world->child, SIGKILL);
    while (world->io)
        laz_loop_step(world->driver.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_EQUAL(waitpid(world->child, NULL, 0), world->child);
}

void world_run(struct world *world, void (*act)(void *user), void *user)
{
    world_start(world, act, user);
    world_finish(world);
}

void world_say(struct world *world)
{
    CU_ASSERT_EQUAL_FATAL(write(world->end, "g", 1), 1);
}

void world_await(struct world *world, size_t letters)
{
    while (world->io && world->n_said < letters)
        laz_loop_step(world->driver.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_FATAL(world->n_said >= letters);
}

unsigned world_denied(const struct world *world, enum laz_denied what, const char *whom)
{
    unsigned n = 0;

    for (size_t i = 0; i < world->denials.n; i++) {
        const struct laz_denial *one = &world->denials.items[i];
        if (one->what == what &&
            (!whom || strcmp(one->name, whom) == 0 || strcmp(one->address, whom) == 0))
            n += (unsigned)one->count;
    }
    return n;
}

const struct laz_denial *world_denial(const struct world *world, enum laz_denied what)
{
    for (size_t i = 0; i < world->denials.n; i++)
        if (world->denials.items[i].what == what)
            return &world->denials.items[i];
    return NULL;
}

/* ---- in a box -------------------------------------------------------------------------------- */

void box_say(char letter)
{
    MUST(write(box_end, &letter, 1) == 1);
}

void box_hear(void)
{
    char letter;

    MUST(read(box_end, &letter, 1) == 1);
}

/* A query for a name, without the length of TCP. */
size_t box_query(const char *name, uint16_t type, uint8_t query[300])
{
    static const uint8_t head[12] = {0x12, 0x34, 1, 0, 0, 1};
    size_t at = sizeof head;

    memcpy(query, head, sizeof head);
    while (*name) {
        const size_t len = strcspn(name, ".");
        query[at++] = (uint8_t)len;
        memcpy(query + at, name, len);
        at += len;
        name += len + (name[len] == '.');
    }
    query[at++] = 0;
    query[at++] = (uint8_t)(type >> 8);
    query[at++] = (uint8_t)type;
    query[at++] = 0;
    query[at++] = 1;
    return at;
}

uint32_t box_look_up(const char *name)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint8_t packet[600];
    uint32_t address = 0;
    const size_t len = box_query(name, 1, packet);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    MUST(connect(fd, (const struct sockaddr *)&at, sizeof at) == 0);
    MUST(send(fd, packet, len, 0) == (ssize_t)len);
    const ssize_t n = recv(fd, packet, sizeof packet, 0);
    MUST(n >= (ssize_t)len && packet[0] == 0x12 && packet[1] == 0x34);
    if (packet[7]) { /* the address is the last of the first answer: name, type, class, time, size
                      */
        MUST(n >= (ssize_t)len + 16);
        memcpy(&address, packet + len + 12, 4);
    }
    close(fd);
    return ntohl(address);
}

int box_connect(uint32_t address, uint16_t port)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(address)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    MUST(fd >= 0);
    if (connect(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    const int why = errno;
    close(fd);
    errno = why;
    return -1;
}

int box_connect_text(const char *address, uint16_t port)
{
    struct in_addr at;

    MUST(inet_pton(AF_INET, address, &at) == 1);
    return box_connect(ntohl(at.s_addr), port);
}

int box_dial(const char *name, uint16_t port)
{
    const uint32_t address = box_look_up(name);

    MUST(address != 0);
    int fd = box_connect(address, port);
    MUST(fd >= 0);
    return fd;
}

void box_send(int fd, const void *data, size_t len)
{
    const char *at = data;

    while (len) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        MUST(n > 0);
        at += n;
        len -= (size_t)n;
    }
}

void box_puts(int fd, const char *text)
{
    box_send(fd, text, strlen(text));
}

bool box_line(int fd, char line[256])
{
    size_t n = 0;

    while (n < 255 && recv(fd, line + n, 1, 0) == 1 && line[n] != '\n')
        n++;
    const bool is_whole = n < 255 && line[n] == '\n';
    line[is_whole ? n : 0] = '\0';
    return is_whole;
}

ssize_t box_drain(int fd)
{
    char data[4096];
    ssize_t n, all = 0;

    while ((n = recv(fd, data, sizeof data, 0)) > 0)
        all += n;
    return n < 0 ? -1 : all;
}

bool box_is_reset(int fd)
{
    char byte;

    return recv(fd, &byte, 1, 0) < 0 && errno == ECONNRESET;
}

size_t box_hello(const char *name, uint8_t hello[512])
{
    uint8_t *at = hello + 9;
    const size_t len = name ? strlen(name) : 0;

    memset(hello, 0, 512);
    *at++ = 3;
    *at++ = 3;
    at += 32 + 1; /* random; no session */
    memcpy(at, "\0\2\x13\x01\1\0", 6);
    at += 6;
    uint8_t *extensions = at;
    at += 2;
    if (name) {
        const uint8_t row[] = {0, 0, 0,           (uint8_t)(len + 5), 0, (uint8_t)(len + 3),
                               0, 0, (uint8_t)len};
        memcpy(at, row, sizeof row);
        memcpy(at + sizeof row, name, len);
        at += sizeof row + len;
    }
    memcpy(at, "\0\x2b\0\3\2\3\4", 7); /* versions: TLS 1.3 */
    at += 7;
    const size_t all = (size_t)(at - hello);
    extensions[0] = (uint8_t)((size_t)(at - extensions - 2) >> 8);
    extensions[1] = (uint8_t)(at - extensions - 2);
    memcpy(hello, "\x16\3\1", 3);
    hello[3] = (uint8_t)((all - 5) >> 8);
    hello[4] = (uint8_t)(all - 5);
    hello[5] = 1;
    hello[7] = (uint8_t)((all - 9) >> 8);
    hello[8] = (uint8_t)(all - 9);
    return all;
}
