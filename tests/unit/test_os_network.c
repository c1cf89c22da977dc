/* SPDX-License-Identifier: MIT */
/* test_os_network.c - sockets of this process in the network namespace of another one.
 *
 * A *place* is a child in namespaces of its own, made as a backend makes them: it waits until the
 * sockets are there, then does what the test says, and its exit status is 0 or the number of the
 * line that failed. */
#include "unit.h"

#include "base/clock.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/inet.h"
#include "os/network.h"
#include "os/pidfd.h"
#include "os/spawner.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_UID 54321u /* of a session of root */

static const uint16_t web[] = {80, 443};

/* ---- places --------------------------------------------------------------------------------- */

struct place {
    struct laz_os_network_of of;
    int way; /* to it: 'g': it goes on; a byte from it: it is there */
};

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 251 + 1);                                                             \
    } while (0)

static void place_main(int way, uint32_t uid, int (*run)(void))
{
    char byte = 'r';

    MUST(uid == LAZ_SPAWN_SAME_ID || syscall(SYS_setresuid, uid, uid, uid) == 0);
    MUST(unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 1); /* as a program that was executed is */
    MUST(write(way, &byte, 1) == 1);
    if (read(way, &byte, 1) == 1)
        _exit(run());
    _exit(0);
}

static uint32_t place_uid(void)
{
    return geteuid() == 0 ? OTHER_UID : LAZ_SPAWN_SAME_ID;
}

static void place_begin(struct place *place, int (*run)(void))
{
    int ends[2];
    char byte;

    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    place->of.uid = place_uid();
    place->of.pid = fork();
    CU_ASSERT_FATAL(place->of.pid >= 0);
    if (place->of.pid == 0) {
        close(ends[0]);
        place_main(ends[1], place->of.uid, run);
    }
    close(ends[1]);
    place->way = ends[0];
    place->of.pidfd = laz_os_pidfd(place->of.pid);
    CU_ASSERT_FATAL(place->of.pidfd >= 0);
    CU_ASSERT_FATAL(read(place->way, &byte, 1) == 1);
}

static void place_go(struct place *place)
{
    CU_ASSERT(write(place->way, "g", 1) == 1);
}

static void place_end(struct place *place)
{
    int status = -1;

    close(place->way); /* one that still waits ends */
    CU_ASSERT(waitpid((pid_t)place->of.pid, &status, 0) == place->of.pid);
    CU_ASSERT_EQUAL(status, 0);
    close(place->of.pidfd);
}

static void place_listen(struct place *place, const uint16_t *ports, size_t n,
                         struct laz_os_network *network)
{
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_os_network_listen(&place->of, ports, n, network, &err), 0);
    CU_ASSERT_EQUAL(network->n_ports, n);
}

static void await(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    CU_ASSERT_FATAL(poll(&one, 1, UNIT_HANG_MS) == 1);
}

static int accepted(int listener, struct sockaddr_in *wanted)
{
    socklen_t len = sizeof *wanted;

    await(listener);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(getsockname(fd, (struct sockaddr *)wanted, &len), 0);
    return fd;
}

/* ---- in a place ----------------------------------------------------------------------------- */

static struct sockaddr_in v4(const char *address, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};

    MUST(inet_pton(AF_INET, address, &at.sin_addr) == 1);
    return at;
}

/* An errno; 0: connected. */
static int connect_to(const char *address, uint16_t port)
{
    const struct sockaddr_in at = v4(address, port);
    char byte;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (connect(fd, (const struct sockaddr *)&at, sizeof at) != 0)
        return errno;
    (void)!read(fd, &byte, 1);
    close(fd);
    return 0;
}

static int connects(void)
{
    MUST(connect_to("93.184.216.34", 443) == 0);
    MUST(connect_to("198.18.0.7", 80) == 0);
    return 0;
}

static int asks_for_names(void)
{
    const struct sockaddr_in at = v4("127.0.0.1", 53);
    int udp = socket(AF_INET, SOCK_DGRAM, 0);
    char byte = 'q';

    MUST(connect(udp, (const struct sockaddr *)&at, sizeof at) == 0);
    MUST(send(udp, &byte, 1, 0) == 1 && recv(udp, &byte, 1, 0) == 1 && byte == 'a');
    MUST(connect_to("127.0.0.1", 53) == 0);
    return 0;
}

static int wants_other_things(void)
{
    const struct sockaddr_in quic = v4("8.8.8.8", 443);
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
    int udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = socket(AF_INET6, SOCK_STREAM, 0);
    static char large[1000];

    MUST(connect_to("93.184.216.34", 8081) == ECONNREFUSED);
    MUST(connect(udp, (const struct sockaddr *)&quic, sizeof quic) == 0);
    MUST(send(udp, large, sizeof large, 0) == (ssize_t)sizeof large);
    MUST(recv(udp, large, 1, 0) < 0 && errno == ECONNREFUSED);
    MUST(inet_pton(AF_INET6, "2001:db8::1", &six.sin6_addr) == 1);
    MUST(tcp < 0 || (connect(tcp, (const struct sockaddr *)&six, sizeof six) != 0 &&
                     (errno == ECONNREFUSED || errno == ENETUNREACH || errno == EADDRNOTAVAIL)));
    MUST(connect_to("93.184.216.34", 443) == 0);
    return asks_for_names();
}

static int reads_bounds(void)
{
    static const char *const files[] = {"/proc/sys/net/ipv4/tcp_rmem",
                                        "/proc/sys/net/ipv4/tcp_wmem"};
    unsigned least, first, most;

    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(files[i], "r");
        MUST(file && fscanf(file, "%u %u %u", &least, &first, &most) == 3);
        MUST(most == LAZ_OS_SOCKET_BYTES);
    }
    return 0;
}

/* What a process without capabilities can do to the namespace; it is as those of a box are. */
static int has_no_rights(void)
{
    struct __user_cap_header_struct self = {.version = _LINUX_CAPABILITY_VERSION_3};
    static const struct __user_cap_data_struct none[2];
    const struct sockaddr_in taken = v4("0.0.0.0", 443), own = v4("127.0.0.1", 8080);
    const int on = 1;

    MUST(syscall(SYS_capset, &self, none) == 0);
    MUST(socket(AF_INET, SOCK_RAW, IPPROTO_TCP) < 0 && errno == EPERM);
    MUST(socket(AF_PACKET, SOCK_DGRAM, 0) < 0 && errno == EPERM);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    MUST(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0);
    MUST(bind(fd, (const struct sockaddr *)&taken, sizeof taken) != 0);
    MUST(bind(fd, (const struct sockaddr *)&own, sizeof own) == 0 && listen(fd, 1) == 0);
    return 0;
}

static int does_nothing(void)
{
    return 0;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void accepted_connection_has_the_address_that_was_wanted(void)
{
    struct place place;
    struct laz_os_network network;
    struct sockaddr_in wanted;

    place_begin(&place, connects);
    place_listen(&place, web, 2, &network);
    place_go(&place);
    close(accepted(network.listeners[1], &wanted));
    CU_ASSERT_EQUAL(wanted.sin_addr.s_addr, inet_addr("93.184.216.34"));
    CU_ASSERT_EQUAL(ntohs(wanted.sin_port), 443);
    close(accepted(network.listeners[0], &wanted));
    CU_ASSERT_EQUAL(wanted.sin_addr.s_addr, inet_addr("198.18.0.7"));
    place_end(&place);
    laz_os_network_close(&network);
    CU_ASSERT_EQUAL(network.dns_udp, -1);
}

static void answer_names(const struct laz_os_network *network)
{
    struct sockaddr_in from;
    socklen_t len = sizeof from;
    char byte;

    await(network->dns_udp);
    CU_ASSERT_EQUAL(recvfrom(network->dns_udp, &byte, 1, 0, (struct sockaddr *)&from, &len), 1);
    CU_ASSERT_EQUAL(sendto(network->dns_udp, "a", 1, 0, (struct sockaddr *)&from, len), 1);
    close(accepted(network->dns_tcp, &from));
}

static void names_can_be_answered_without_any_port(void)
{
    struct place place;
    struct laz_os_network network;

    place_begin(&place, asks_for_names);
    place_listen(&place, NULL, 0, &network);
    place_go(&place);
    answer_names(&network);
    place_end(&place);
    laz_os_network_close(&network);
}

/* The port that a packet is for, and its protocol. */
static bool is_packet(const unsigned char *packet, ssize_t n, unsigned version, int protocol,
                      uint16_t port)
{
    const size_t head = packet[0] >> 4 == 4 ? (size_t)(packet[0] & 15) * 4 : 40;

    return n <= (ssize_t)LAZ_OS_WATCH_BYTES && n > (ssize_t)head + 4 && packet[0] >> 4 == version &&
           packet[version == 4 ? 9 : 6] == protocol &&
           (packet[head + 2] << 8 | packet[head + 3]) == port;
}

static void what_no_socket_takes_is_seen_and_nothing_else(void)
{
    struct place place;
    struct laz_os_network network;
    struct sockaddr_in wanted;
    uint8_t packet[LAZ_OS_WATCH_BYTES];
    unsigned tcp = 0, udp = 0, six = 0;
    ssize_t n;

    place_begin(&place, wants_other_things);
    place_listen(&place, web, 2, &network);
    place_go(&place);
    close(accepted(network.listeners[1], &wanted));
    answer_names(&network);
    place_end(&place);
    while ((n = laz_os_network_hear(&network, packet)) > 0) {
        const bool is_tcp = is_packet(packet, n, 4, IPPROTO_TCP, 8081);
        const bool is_udp = is_packet(packet, n, 4, IPPROTO_UDP, 443);
        const bool is_six = is_packet(packet, n, 6, IPPROTO_TCP, 443);
        CU_ASSERT(is_tcp || is_udp || is_six);
        tcp += is_tcp;
        udp += is_udp;
        six += is_six;
    }
    CU_ASSERT_EQUAL(tcp, 1);
    CU_ASSERT_EQUAL(udp, 1);
    if (access("/proc/sys/net/ipv6", F_OK) == 0)
        CU_ASSERT_EQUAL(six, 1);
    laz_os_network_close(&network);
}

static void sockets_are_bounded_where_it_says_so(void)
{
    struct place place;
    struct laz_os_network network;

    place_begin(&place, reads_bounds);
    place_listen(&place, web, 2, &network);
    if (network.is_bounded)
        place_go(&place);
    else
        unit_skip("sysctl", "/proc/sys cannot be written here");
    place_end(&place);
    laz_os_network_close(&network);
}

static void processes_inside_have_no_rights_over_it(void)
{
    struct place place;
    struct laz_os_network network;

    place_begin(&place, has_no_rights);
    place_listen(&place, web, 2, &network);
    place_go(&place);
    place_end(&place);
    laz_os_network_close(&network);
}

static unsigned count_descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    unsigned n = 0;

    while (all && readdir(all))
        n++;
    closedir(all);
    return n;
}

static void two_hundred_leave_no_descriptor(void)
{
    uint16_t many[LAZ_OS_NETWORK_PORTS];
    struct laz_os_network network;
    struct laz_error err = {0};
    struct place place;
    const unsigned before = count_descriptors();

    for (size_t i = 0; i < LAZ_OS_NETWORK_PORTS; i++)
        many[i] = (uint16_t)(1000 + i);
    for (unsigned i = 0; i < 200; i++) {
        place_begin(&place, does_nothing);
        place_listen(&place, many, i % 8 ? 2 : LAZ_OS_NETWORK_PORTS, &network);
        /* a second time nothing can be bound: all that was made before is closed again */
        struct laz_os_network again;
        CU_ASSERT_EQUAL(laz_os_network_listen(&place.of, many, 2, &again, &err), LAZ_EREFUSED);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "listened on"));
        CU_ASSERT_EQUAL(again.n_ports, 0);
        laz_os_network_close(&network);
        place_end(&place);
    }
    CU_ASSERT_EQUAL(count_descriptors(), before);
}

/* How many may be opened is a limit of this process: it says nothing of the box. */
static void missing_descriptors_are_an_error_of_their_own(void)
{
    const unsigned before = count_descriptors();
    struct laz_os_network network;
    struct laz_error err = {0};
    struct place place;
    struct rlimit usual, low;

    place_begin(&place, does_nothing);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &usual), 0);
    for (unsigned more = 0; more < 6; more++) {
        low = usual;
        low.rlim_cur = (rlim_t)place.of.pidfd + 1 + more; /* the highest that is open */
        CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &low), 0);
        CU_ASSERT_EQUAL(laz_os_network_listen(&place.of, web, 2, &network, &err), LAZ_EOS);
        CU_ASSERT(laz_error_is_shortage(&err));
        CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &usual), 0);
    }
    place_end(&place);
    CU_ASSERT_EQUAL(count_descriptors(), before);
}

static void wrong_ports_are_errors(void)
{
    const uint16_t zero[] = {0}, names[] = {443, 53}, twice[] = {80, 443, 80};
    uint16_t many[LAZ_OS_NETWORK_PORTS + 1];
    const struct {
        const uint16_t *ports;
        size_t n;
    } rows[] = {{zero, 1}, {names, 2}, {twice, 3}, {many, LAZ_OS_NETWORK_PORTS + 1}};
    struct laz_os_network network;
    struct laz_error err;
    struct place place;

    for (size_t i = 0; i < LAZ_OS_NETWORK_PORTS + 1; i++)
        many[i] = (uint16_t)(1000 + i);
    place_begin(&place, does_nothing);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(laz_os_network_listen(&place.of, rows[i].ports, rows[i].n, &network, &err),
                        LAZ_EINVAL);
    place_end(&place);
}

static void network_of_the_host_is_refused(void)
{
    const struct laz_os_network_of self = {getpid(), laz_os_pidfd(getpid()), LAZ_SPAWN_SAME_ID};
    struct laz_os_network network;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_os_network_listen(&self, web, 2, &network, &err), LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "that of the host"));
    CU_ASSERT_EQUAL(network.watches[0], -1);
    close(self.pidfd);
}

static void process_that_has_ended_is_refused(void)
{
    struct laz_os_network network;
    struct laz_error err = {0};
    struct place place;
    siginfo_t info;

    place_begin(&place, does_nothing);
    place_go(&place);
    CU_ASSERT_EQUAL(waitid(P_PID, (id_t)place.of.pid, &info, WEXITED | WNOWAIT), 0);
    CU_ASSERT_EQUAL(laz_os_network_listen(&place.of, web, 2, &network, &err), LAZ_EREFUSED);
    place_end(&place);
}

static volatile sig_atomic_t n_children;

static void note_child(int signal)
{
    (void)signal;
    n_children++;
}

/* It has no child of which it would hear, and is what it was before. */
static void host_notices_nothing(void)
{
    struct laz_os_network network;
    struct place place;
    struct stat before, after;
    sigset_t blocked;

    place_begin(&place, does_nothing);
    signal(SIGCHLD, note_child);
    stat("/proc/self/ns/net", &before);
    place_listen(&place, web, 2, &network);
    stat("/proc/self/ns/net", &after);
    CU_ASSERT_EQUAL(before.st_ino, after.st_ino);
    CU_ASSERT_EQUAL(n_children, 0);
    CU_ASSERT_EQUAL(prctl(PR_GET_DUMPABLE), 1);
    CU_ASSERT_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    CU_ASSERT_EQUAL(sigismember(&blocked, SIGTERM), 0);
    laz_os_network_close(&network);
    signal(SIGCHLD, SIG_IGN); /* nothing waits for a child then but what asks for it */
    place_listen(&place, web, 2, &network);
    signal(SIGCHLD, SIG_DFL);
    laz_os_network_close(&network);
    place_end(&place);
}

/* Root of a container without a filter of system calls: it has no capability over the system. */
static void root_without_capabilities_becomes_the_user_of_the_session(void)
{
    struct __user_cap_header_struct self = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2];
    struct laz_os_network network;
    struct place place;
    int status = -1;

    if (geteuid() != 0) {
        unit_skip("root", "only root can be that");
        return;
    }
    place_begin(&place, does_nothing);
    pid_t pid = fork();
    if (pid == 0) {
        MUST(syscall(SYS_capget, &self, caps) == 0);
        caps[0].permitted = caps[0].effective = 1u << CAP_SETUID;
        caps[1].permitted = caps[1].effective = 0;
        MUST(syscall(SYS_capset, &self, caps) == 0);
        prctl(PR_SET_DUMPABLE, 1);
        MUST(laz_os_network_listen(&place.of, web, 2, &network, NULL) == 0);
        MUST(geteuid() == 0 && prctl(PR_GET_DUMPABLE) == 1);
        place.of.uid = LAZ_SPAWN_SAME_ID;
        laz_os_network_close(&network);
        MUST(laz_os_network_listen(&place.of, web, 2, &network, NULL) == LAZ_EREFUSED);
        _exit(0);
    }
    CU_ASSERT(waitpid(pid, &status, 0) == pid);
    CU_ASSERT_EQUAL(status, 0);
    place_end(&place);
}

static int compare_us(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Nothing depends on it: it is printed to be read. */
static void cost_is_printed(void)
{
    uint64_t us[100];
    struct laz_os_network network;
    struct place place;

    for (size_t i = 0; i < sizeof us / sizeof *us; i++) {
        place_begin(&place, does_nothing);
        const uint64_t begun = laz_clock_us();
        place_listen(&place, web, 2, &network);
        us[i] = laz_clock_us() - begun;
        laz_os_network_close(&network);
        place_end(&place);
    }
    qsort(us, sizeof us / sizeof *us, sizeof *us, compare_us);
    printf("laz_os_network_listen: median %llu us, least %llu, n 100\n", (unsigned long long)us[50],
           (unsigned long long)us[0]);
}

static void a_host_has_an_address_or_a_network_of_ipv6(void)
{
    static const struct {
        const char *a, *b;
        bool is_one;
    } rows[] = {
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "192.0.2.2", false},
        {"::ffff:192.0.2.1", "192.0.2.1", true},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
        {"2001:db8::1", "2001:db8::ffff:1:2:3", true},
        {"2001:db8:0:1::1", "2001:db8:0:2::1", false},
        {"::1", "192.0.2.1", false},
        {"", "", true}, /* who has gone already */
        {"", "::1", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_endpoint ends[2] = {{.family = 0}};
        for (int k = 0; k < 2; k++) {
            const char *text = k ? rows[i].b : rows[i].a;
            ends[k].port = (uint16_t)(i + (size_t)k); /* which says nothing */
            ends[k].family = !*text ? 0 : strchr(text, ':') ? 6 : 4;
            CU_ASSERT(!*text || inet_pton(ends[k].family == 6 ? AF_INET6 : AF_INET, text,
                                          ends[k].bytes) == 1);
        }
        CU_ASSERT_EQUAL(laz_endpoint_is_of_one(&ends[0], &ends[1]), rows[i].is_one);
        CU_ASSERT_EQUAL(laz_endpoint_is_of_one(&ends[1], &ends[0]), rows[i].is_one);
    }
}

static void the_peer_of_a_connection_is_known(void)
{
    char text[LAZ_OS_ADDRESS];
    struct laz_endpoint peer = {.family = 4};
    uint16_t port = 0;
    int listener = -1, fd = -1;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_os_inet_listen("127.0.0.1", &port, &listener, &err), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_inet_reach("127.0.0.1", port, 60000, &fd, &err), 0);
    laz_os_inet_peer(fd, text, &peer);
    UNIT_TEXT(text, "127.0.0.1");
    CU_ASSERT(peer.family == 4 && peer.port == port && peer.bytes[0] == 127 && peer.bytes[3] == 1);
    laz_os_inet_peer(listener, text, &peer); /* nobody is there */
    UNIT_TEXT(text, "");
    CU_ASSERT_EQUAL(peer.family, 0);
    laz_os_close(&fd);
    laz_os_close(&listener);
}

static const struct unit_test tests[] = {
    UNIT(accepted_connection_has_the_address_that_was_wanted),
    UNIT(names_can_be_answered_without_any_port),
    UNIT(what_no_socket_takes_is_seen_and_nothing_else),
    UNIT(sockets_are_bounded_where_it_says_so),
    UNIT(processes_inside_have_no_rights_over_it),
    UNIT(two_hundred_leave_no_descriptor),
    UNIT(missing_descriptors_are_an_error_of_their_own),
    UNIT(wrong_ports_are_errors),
    UNIT(network_of_the_host_is_refused),
    UNIT(process_that_has_ended_is_refused),
    UNIT(host_notices_nothing),
    UNIT(root_without_capabilities_becomes_the_user_of_the_session),
    UNIT(cost_is_printed),
    UNIT(a_host_has_an_address_or_a_network_of_ipv6),
    UNIT(the_peer_of_a_connection_is_known),
    {0},
};

/* Containers may refuse such namespaces. */
static bool has_namespaces(void)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : 1);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

int main(void)
{
    if (!has_namespaces()) {
        puts("SKIP bwrap: no namespaces can be made here");
        return unit_is_needed("bwrap") ? 1 : 77;
    }
    return unit_run("network", tests);
}
