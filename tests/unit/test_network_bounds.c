/* SPDX-License-Identifier: MIT */
/* test_network_bounds.c - what one box may use up, of what and of time. */
#include "network/running.h"
#include "network_world.h"
#include "os/io.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PUBLIC "93.184.216.34"
#define MIB    ((size_t)1 << 20)

static const struct world_name names[] = {
    {"plain.example", {PUBLIC}, 1, false},
    {"web.example", {PUBLIC}, 1, false},
    {"silent.example", {PUBLIC}, 1, true},
};
static const char *const allow[] = {"plain.example:7000", "silent.example:7000",
                                    "http://web.example", NULL};

static void begin(struct world *world, enum world_server what)
{
    world_dns(names, sizeof names / sizeof names[0]);
    world_serve(what, PUBLIC, 7000);
    world_open(world, allow);
}

static void end(struct world *world)
{
    world_close(world);
    world_end_servers();
}

/* A second at a time, as a loop that is driven sees it. */
static void advance(struct world *world, uint64_t ms)
{
    for (uint64_t done = 0; done < ms; done += 1000) {
        laz_loop_advance_clock(world->driver.loop, 1000);
        world_settle(world);
    }
}

static void box_resets(void *user)
{
    const struct linger at_once = {1, 0};
    char line[256];
    int fd = box_dial("plain.example", 7000);

    (void)user;
    MUST(box_line(fd, line));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

/* ---- many ------------------------------------------------------------------------------------ */

static void box_opens_many(void *user)
{
    int fds[200];
    char line[256];
    const uint32_t address = box_look_up("plain.example");

    (void)user;
    for (size_t i = 0; i < 200; i++) {
        fds[i] = box_connect(address, 7000);
        MUST(fds[i] >= 0);
        box_puts(fds[i], "here\n");
    }
    for (size_t i = 0; i < 200; i++)
        MUST(box_line(fds[i], line) && strcmp(line, PUBLIC) == 0 && box_line(fds[i], line) &&
             strcmp(line, "here") == 0);
    box_say('a');
    for (size_t i = 0; i < 200; i++)
        MUST(shutdown(fds[i], SHUT_WR) == 0 && box_drain(fds[i]) == 0);
}

/* A user's shell has 1024, of which a network takes a part. */
static void allow_descriptors(void)
{
    struct rlimit files;

    CU_ASSERT_FATAL(getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max >= 4096);
    files.rlim_cur = files.rlim_cur < 4096 ? 4096 : files.rlim_cur;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &files), 0);
}

static void many_at_once_are_served(void)
{
    struct world world;

    allow_descriptors();
    begin(&world, WORLD_ECHO);
    world_start(&world, box_opens_many, NULL);
    world_await(&world, 1);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 200);
    world_finish(&world);
    world_until(&world, 0);
    CU_ASSERT_EQUAL(world.n_denials, 0);
    end(&world);
}

static void box_opens_one_after_another(void *user)
{
    char line[256];

    (void)user;
    for (int i = 0; i < 1000; i++) {
        int fd = box_dial("plain.example", 7000);
        MUST(box_line(fd, line));
        close(fd);
    }
}

static void a_thousand_leave_nothing(void)
{
    struct world world;
    unsigned handles;

    begin(&world, WORLD_ECHO);
    handles = laz_loop_handles(world.driver.loop);
    world_run(&world, box_opens_one_after_another, NULL);
    world_until(&world, 0);
    CU_ASSERT_EQUAL(laz_loop_handles(world.driver.loop), handles + 1); /* the resolver's timer */
    CU_ASSERT_EQUAL(world.shared->descriptors, 0);
    CU_ASSERT_EQUAL(world.network->n_half_open, 0);
    CU_ASSERT_EQUAL(world.network->n_lookups, 0);
    end(&world);
}

static void box_waits_for_its_turn(void *user)
{
    char line[256];
    int first = box_dial("plain.example", 7000), second = box_dial("plain.example", 7000);
    int third = box_dial("plain.example", 7000);

    (void)user;
    MUST(box_line(first, line) && box_line(second, line));
    MUST(recv(third, line, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    box_say('a');
    box_hear();
    close(first);
    MUST(box_line(third, line));
}

static void others_wait_beyond_max_connections(void)
{
    struct world world;

    world_dns(names, 1);
    world_serve(WORLD_ECHO, PUBLIC, 7000);
    world_open_bounded(&world, allow, 2, UINT64_MAX);
    world_start(&world, box_waits_for_its_turn, NULL);
    world_await(&world, 1);
    laz_network_catch_up(world.network);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_LIMIT, NULL), 1);
    world_say(&world);
    world_finish(&world);
    CU_ASSERT_EQUAL(world.n_denials, 1);
    end(&world);
}

static void descriptors_of_the_host_are_bounded(void)
{
    struct world world;

    begin(&world, WORLD_ECHO);
    world.shared->most_descriptors = 5;
    world_start(&world, box_waits_for_its_turn, NULL);
    world_await(&world, 1);
    laz_network_catch_up(world.network);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_LIMIT, NULL), 1);
    world_say(&world);
    world_finish(&world);
    end(&world);
}

static void box_comes_too_early(void *user)
{
    char line[256];
    int fd = box_dial("plain.example", 7000);

    (void)user;
    box_say('a');
    MUST(box_line(fd, line));
}

/* Where the process has none left, nothing is tried until the next tick. */
static void exhausted_descriptors_do_not_spin(void)
{
    struct rlimit before, none;
    struct world world;

    begin(&world, WORLD_ECHO);
    laz_loop_hold_clock(world.driver.loop);
    world_start(&world, box_comes_too_early, NULL);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    world_await(&world, 1);
    while (!world.network->is_short)
        laz_loop_step(world.driver.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_FALSE(laz_os_await(laz_loop_fd(world.driver.loop), 0)); /* it could be accepted */
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &before), 0);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 0);
    advance(&world, 1000);
    world_finish(&world);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_LIMIT, NULL), 1);
    end(&world);
}

static void box_receives_too_much(void *user)
{
    int fd = box_dial("plain.example", 7000), other = box_dial("plain.example", 7000);

    (void)user;
    box_puts(fd, "33554432\n");
    while (recv(fd, (char[4096]){0}, 4096, 0) > 0)
        ;
    MUST(errno == ECONNRESET && box_is_reset(other));
    fd = box_dial("plain.example", 7000);
    MUST(box_is_reset(fd));
}

static void bytes_are_bounded(void)
{
    struct world world;
    uint64_t out, in;

    world_dns(names, 1);
    world_serve(WORLD_SOURCE, PUBLIC, 7000);
    world_open_bounded(&world, allow, 100, MIB);
    world_run(&world, box_receives_too_much, NULL);
    laz_network_bytes(world.network, &out, &in);
    CU_ASSERT_TRUE(in > MIB && in <= MIB + NETWORK_READ);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_LIMIT, NULL), 2);
    CU_ASSERT_TRUE(world_denial(&world, LAZ_DENIED_LIMIT)->is_permanent);
    end(&world);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void box_never_ends_its_head(void *user)
{
    int fd = box_dial("web.example", 80);

    (void)user;
    box_puts(fd, "GET / HTTP/1.1\r\nX: ");
    box_say('a');
    MUST(box_is_reset(fd));
}

static void a_head_has_to_end(void)
{
    struct world world;

    begin(&world, WORLD_HTTP);
    laz_loop_hold_clock(world.driver.loop);
    world_start(&world, box_never_ends_its_head, NULL);
    world_await(&world, 1);
    world_until(&world, 1);
    advance(&world, 9000);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 1);
    advance(&world, 2000);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 0);
    world_finish(&world);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_LIMIT, "web.example"), 1);
    end(&world);
}

/* The time in which nobody drives the loop is nobody's fault. */
static void a_loop_that_stood_still_ends_nothing(void)
{
    struct world world;

    begin(&world, WORLD_HTTP);
    laz_loop_hold_clock(world.driver.loop);
    world_start(&world, box_never_ends_its_head, NULL);
    world_await(&world, 1);
    world_until(&world, 1);
    laz_loop_advance_clock(world.driver.loop, 3600000);
    world_settle(&world);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 1);
    advance(&world, 11000);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 0);
    world_finish(&world);
    end(&world);
}

static void box_floods(void *user)
{
    const uint32_t address = box_look_up("web.example");

    (void)user;
    for (int i = 0; i < 100; i++)
        MUST(box_connect(address, 80) >= 0);
    box_say('a');
    pause();
}

/* Only so many are taken; the others wait in the kernel, and another box does not. */
static void half_open_ones_are_few(void)
{
    struct world world, beside;

    begin(&world, WORLD_ECHO);
    world_open_beside(&beside, &world, allow);
    laz_loop_hold_clock(world.driver.loop);
    world_start(&world, box_floods, NULL);
    world_await(&world, 1);
    world_until(&world, NETWORK_HALF_OPEN);
    world_settle(&world);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), NETWORK_HALF_OPEN);
    world_run(&beside, box_resets, NULL);
    advance(&world, 11000);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_LIMIT, "web.example"), NETWORK_HALF_OPEN);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), NETWORK_HALF_OPEN); /* the next ones */
    world_kill(&world);
    world_close(&beside);
    end(&world);
}

static void box_idles(void *user)
{
    char line[256];
    int fd = box_dial("plain.example", 7000);

    (void)user;
    MUST(box_line(fd, line));
    box_say('a');
    MUST(box_is_reset(fd));
}

static void an_idle_connection_ends(void)
{
    struct world world;

    begin(&world, WORLD_ECHO);
    laz_loop_hold_clock(world.driver.loop);
    world_start(&world, box_idles, NULL);
    world_await(&world, 1);
    advance(&world, 2000); /* there was something in the time before */
    advance(&world, NETWORK_IDLE_MS - 2000);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 1);
    advance(&world, 4000);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 0);
    world_finish(&world);
    end(&world);
}

static void box_dials_the_silent(void *user)
{
    int fd = box_dial("silent.example", 7000);

    (void)user;
    box_say('a');
    MUST(box_is_reset(fd));
}

static void a_lookup_has_to_end(void)
{
    struct world world;

    begin(&world, WORLD_ECHO);
    laz_loop_hold_clock(world.driver.loop);
    world_start(&world, box_dials_the_silent, NULL);
    world_await(&world, 1);
    world_until(&world, 1);
    CU_ASSERT_EQUAL(world.network->connections->state, NETWORK_LOOKUP);
    advance(&world, 17000);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 0);
    world_finish(&world);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_UNREACHABLE, "silent.example"), 1);
    end(&world);
}

/* ---- DNS ------------------------------------------------------------------------------------- */

#define FLOOD 100000

static void box_asks_and_asks(void *user)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint8_t query[300];
    char name[64];
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    (void)user;
    MUST(connect(fd, (const struct sockaddr *)&at, sizeof at) == 0);
    for (int i = 0; i < FLOOD; i++) {
        snprintf(name, sizeof name, "data%d.example.org", i);
        (void)send(fd, query, box_query(name, 1, query), 0);
        if (i == FLOOD / 2)
            box_say('a');
    }
}

static void a_flood_of_queries_delays_nobody(void)
{
    struct world world, beside;

    begin(&world, WORLD_ECHO);
    world_open_beside(&beside, &world, allow);
    laz_loop_hold_clock(world.driver.loop);
    world_start(&world, box_asks_and_asks, NULL);
    world_await(&world, 1);
    world_run(&beside, box_resets, NULL);
    world_finish(&world);
    world_settle(&world);
    CU_ASSERT_TRUE(world.n_denials <= NETWORK_DNS_SECOND);
    const unsigned before = world.n_denials;
    advance(&world, 1000); /* what was in the kernel's buffer */
    CU_ASSERT_TRUE(world.n_denials <= before + NETWORK_DNS_SECOND);
    world_run(&world, box_resets, NULL);
    world_close(&beside);
    end(&world);
}

static void box_asks_by_tcp(void *user)
{
    uint8_t packet[2 + 300], answer[2 + 512];
    int fd = box_connect(INADDR_LOOPBACK, 53);

    (void)user;
    MUST(fd >= 0);
    for (int i = 0; i < 40; i++) {
        const size_t len = box_query(i % 2 ? "plain.example" : "other.example", 1, packet + 2);
        packet[0] = 0;
        packet[1] = (uint8_t)len;
        box_send(fd, packet, 1); /* in pieces */
        box_send(fd, packet + 1, 1 + len);
    }
    for (int i = 0; i < 40; i++) {
        MUST(recv(fd, answer, 2, MSG_WAITALL) == 2);
        const ssize_t len = answer[0] << 8 | answer[1];
        MUST(recv(fd, answer, (size_t)len, MSG_WAITALL) == len);
        MUST((answer[3] & 15) == (i % 2 ? 0 : 3) && answer[7] == i % 2);
    }
    box_send(fd, "\377\377", 2); /* longer than any query */
    MUST(box_drain(fd) <= 0);
    int others[NETWORK_DNS_PEERS];
    for (size_t i = 0; i < NETWORK_DNS_PEERS; i++)
        others[i] = box_connect(INADDR_LOOPBACK, 53);
    fd = box_connect(INADDR_LOOPBACK, 53);
    MUST(box_is_reset(fd));
    box_say('a');
    MUST(box_drain(others[0]) == 0); /* it is idle */
}

static void names_are_told_over_tcp_too(void)
{
    struct world world;

    begin(&world, WORLD_ECHO);
    laz_loop_hold_clock(world.driver.loop);
    world_start(&world, box_asks_by_tcp, NULL);
    world_await(&world, 1);
    CU_ASSERT_EQUAL(world.network->n_dns_peers, NETWORK_DNS_PEERS);
    advance(&world, 11000);
    CU_ASSERT_EQUAL(world.network->n_dns_peers, 0);
    world_finish(&world);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_NAME, "other.example"), 20);
    end(&world);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* What the kernel shows of a packet may be any bytes. */
static void packets_may_be_anything(void)
{
    uint8_t packet[LAZ_OS_WATCH_BYTES];
    struct world world;
    int ends[2], watch;
    uint32_t seed = 12345;

    begin(&world, WORLD_ECHO);
    watch = world.network->sockets.watches[0];
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
                          0);
    world.network->sockets.watches[0] = ends[0];
    laz_loop_hold_clock(world.driver.loop);
    for (int i = 0; i < 20000; i++) {
        const size_t len = (size_t)i % (sizeof packet + 1);
        for (size_t k = 0; k < len; k++)
            packet[k] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
        packet[0] = (uint8_t)((i & 1 ? 0x60 : 0x40) | (packet[0] & 15));
        packet[i & 1 ? 6 : 9] = i & 2 ? 6 : 17;
        (void)!send(ends[1], packet, len, 0);
        if (i % 8 == 7)
            (void)network_watch_hear(world.network);
    }
    CU_ASSERT_TRUE(world.n_denials > 100 && world.n_denials <= NETWORK_WATCH_SECOND);
    advance(&world, 1000);
    while (laz_os_await(ends[0], 0))
        (void)network_watch_hear(world.network);
    const unsigned before = world.n_denials;
    memcpy(packet, "\x45\0\0\x28\0\0\0\0\x40\6\0\0\1\2\3\4\1\2\3\4\0\0\0\x51", 24);
    CU_ASSERT_EQUAL(send(ends[1], packet, 24, 0), 24);
    (void)network_watch_hear(world.network);
    CU_ASSERT_EQUAL(world.n_denials, before + 1);
    world.network->sockets.watches[0] = watch;
    close(ends[0]);
    close(ends[1]);
    end(&world);
}

/* ---- other rules, and the end ---------------------------------------------------------------- */

static void box_keeps_two(void *user)
{
    char line[256];
    int plain = box_dial("plain.example", 7000), web = box_dial("web.example", 80);

    (void)user;
    MUST(box_line(plain, line));
    box_puts(web, "GET / HTTP/1.1\r\nHost: web.example\r\n\r\n");
    MUST(box_line(web, line));
    box_say('a');
    MUST(box_is_reset(plain));
    MUST(box_line(web, line) && box_line(web, line) && box_line(web, line));
    box_puts(web, "GET / HTTP/1.1\r\nHost: web.example\r\n\r\n");
    MUST(box_line(web, line) && strcmp(line, "HTTP/1.1 200 OK\r") == 0);
    MUST(box_look_up("plain.example") == 0);
}

static void other_rules_close_what_they_do_not_permit(void)
{
    static const char *const fewer[] = {"http://web.example", NULL};
    static const char *const wider[] = {"plain.example:7001", NULL};
    struct laz_network_rules *rules;
    struct laz_error err = {0};
    struct world world;

    begin(&world, WORLD_ECHO);
    world_serve(WORLD_HTTP, PUBLIC, 80);
    world_start(&world, box_keeps_two, NULL);
    world_await(&world, 1);
    rules = world_rules(wider, 10, UINT64_MAX);
    CU_ASSERT_EQUAL(laz_network_change(world.network, rules, &err), LAZ_EINVAL);
    CU_ASSERT_TRUE(strstr(err.text, "7001") != NULL);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 2);
    laz_network_rules_drop(rules);
    rules = world_rules(fewer, 10, UINT64_MAX);
    CU_ASSERT_EQUAL(laz_network_change(world.network, rules, &err), 0);
    laz_network_rules_drop(rules);
    CU_ASSERT_EQUAL(laz_network_connections(world.network), 1);
    world_finish(&world);
    end(&world);
}

static void box_is_in_every_state(void *user)
{
    char line[256];
    int open = box_dial("plain.example", 7000), web = box_dial("web.example", 80);
    int silent = box_dial("silent.example", 7000), dns = box_connect(INADDR_LOOPBACK, 53);

    (void)user;
    MUST(box_line(open, line));
    box_puts(web, "GET");
    box_send(dns, "\0", 1);
    MUST(box_connect_text("1.2.3.4", 99) < 0);
    box_say('a');
    MUST(box_is_reset(open) && box_is_reset(web) && box_is_reset(silent));
}

static void a_stop_ends_every_state(void)
{
    struct world world;

    begin(&world, WORLD_ECHO);
    world_start(&world, box_is_in_every_state, NULL);
    world_await(&world, 1);
    world_until(&world, 3);
    laz_network_stop(world.network);
    world.network = NULL;
    world_finish(&world);
    end(&world);
}

/* It fails at whatever it does when its network stops. */
static void box_fails(void *user)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    MUST(dup2(nowhere, 2) == 2);
    box_keeps_two(user);
}

static void a_stop_at_any_moment_leaves_nothing(void)
{
    struct world world;

    begin(&world, WORLD_ECHO);
    for (int steps = 0; steps < 12; steps++) {
        struct world one;
        world_open_beside(&one, &world, allow);
        world_start(&one, box_fails, NULL);
        for (int i = 0; i < steps; i++)
            laz_loop_step(world.driver.loop, 20);
        laz_network_stop(one.network);
        one.network = NULL;
        world_kill(&one);
        world_close(&one);
    }
    end(&world);
}

static const struct unit_test tests[] = {
    UNIT(many_at_once_are_served),
    UNIT(a_thousand_leave_nothing),
    UNIT(others_wait_beyond_max_connections),
    UNIT(descriptors_of_the_host_are_bounded),
    UNIT(exhausted_descriptors_do_not_spin),
    UNIT(bytes_are_bounded),
    UNIT(a_head_has_to_end),
    UNIT(a_loop_that_stood_still_ends_nothing),
    UNIT(half_open_ones_are_few),
    UNIT(an_idle_connection_ends),
    UNIT(a_lookup_has_to_end),
    UNIT(a_flood_of_queries_delays_nobody),
    UNIT(names_are_told_over_tcp_too),
    UNIT(packets_may_be_anything),
    UNIT(other_rules_close_what_they_do_not_permit),
    UNIT(a_stop_ends_every_state),
    UNIT(a_stop_at_any_moment_leaves_nothing),
    {0},
};

int main(void)
{
    return unit_run("network bounds", world_begin() ? tests : world_missing);
}
