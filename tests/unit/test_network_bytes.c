/* SPDX-License-Identifier: MIT */
/* test_network_bytes.c - bytes and ends on their way between a box and a server. */
#include "network/running.h"
#include "network_world.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PUBLIC "93.184.216.34"
#define MIB    ((size_t)1 << 20)

static const struct world_name names[] = {{"plain.example", {PUBLIC}, 1, false}};
static const char *const allow[] = {"plain.example:7000", NULL};

static void begin(struct world *world, enum world_server what)
{
    world_dns(names, 1);
    world_serve(what, PUBLIC, 7000);
    world_open(world, allow);
}

static void end(struct world *world)
{
    world_close(world);
    world_end_servers();
}

static void box_sends_much(void *user)
{
    static uint8_t data[65536];
    const size_t all = *(const size_t *)user;
    char line[256], expected[16];
    uint32_t sum = 0;
    int fd = box_dial("plain.example", 7000);

    for (size_t at = 0; at < all; at += sizeof data) {
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = world_byte(at + i);
        sum = world_sum(sum, data, sizeof data);
        box_send(fd, data, sizeof data);
    }
    MUST(shutdown(fd, SHUT_WR) == 0); /* half of it: the answer comes after this end */
    snprintf(expected, sizeof expected, "%08x", sum);
    MUST(box_line(fd, line) && strcmp(line, expected) == 0 && box_drain(fd) == 0);
}

static void all_that_is_sent_arrives(void)
{
    size_t all = 32 * MIB;
    struct world world;
    uint64_t out, in;

    begin(&world, WORLD_SINK);
    world_run(&world, box_sends_much, &all);
    world_until(&world, 0);
    laz_network_bytes(world.network, &out, &in);
    CU_ASSERT_EQUAL(out, all);
    CU_ASSERT_EQUAL(in, 9);
    end(&world);
}

static void box_receives_much(void *user)
{
    static uint8_t data[65536];
    const size_t all = *(const size_t *)user;
    int fd = box_dial("plain.example", 7000);
    size_t at = 0;
    ssize_t n;

    box_puts(fd, "33554432\n");
    box_say('a');
    while ((n = recv(fd, data, sizeof data, 0)) > 0)
        for (ssize_t i = 0; i < n; i++)
            MUST(data[i] == world_byte(at++));
    MUST(n == 0 && at == all); /* the server's end, while ours is open */
}

static void all_that_is_answered_arrives(void)
{
    size_t all = 32 * MIB;
    struct world world;

    begin(&world, WORLD_SOURCE);
    world_run(&world, box_receives_much, &all);
    world_until(&world, 0);
    end(&world);
}

static void box_reads_late(void *user)
{
    int fd = box_dial("plain.example", 7000);

    (void)user;
    box_puts(fd, "33554432\n");
    box_say('a');
    MUST(box_drain(fd) == (ssize_t)(32 * MIB));
}

/* What a peer does not read is left with the sender, but for a buffer. */
static void nobody_who_does_not_read_fills_memory(void)
{
    struct world world;

    begin(&world, WORLD_SOURCE);
    world_start(&world, box_reads_late, NULL);
    world_await(&world, 1);
    while (world.io) {
        laz_loop_step(world.driver.loop, LAZ_LOOP_FOREVER);
        for (struct network_connection *one = world.network->connections; one; one = one->next)
            CU_ASSERT_TRUE(one->sides[NETWORK_BOX].out.len <= NETWORK_READ);
    }
    world_finish(&world);
    end(&world);
}

static void box_is_reset_by_the_server(void *user)
{
    int fd = box_dial("plain.example", 7000);

    (void)user;
    box_puts(fd, "x");
    MUST(box_is_reset(fd));
}

static void a_reset_of_the_server_is_passed_on(void)
{
    struct world world;

    begin(&world, WORLD_RESET);
    world_run(&world, box_is_reset_by_the_server, NULL);
    world_until(&world, 0);
    CU_ASSERT_EQUAL(world.n_denials, 0);
    end(&world);
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

static void a_reset_of_the_box_ends_it(void)
{
    struct world world;

    begin(&world, WORLD_ECHO);
    world_run(&world, box_resets, NULL);
    world_until(&world, 0);
    end(&world);
}

static void box_sends_and_does_not_read(void *user)
{
    static const char data[65536];
    const struct timeval moment = {.tv_usec = 300000};
    int fd = box_dial("plain.example", 7000);

    (void)user;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof moment);
    while (send(fd, data, sizeof data, MSG_NOSIGNAL) > 0)
        ;
} /* what is not read is there at its end, which so is a reset */

/* The server waits to be read before it reads on. */
static void what_waits_for_a_box_that_is_gone_ends(void)
{
    struct world world;

    begin(&world, WORLD_ECHO);
    world_run(&world, box_sends_and_does_not_read, NULL);
    world_until(&world, 0);
    end(&world);
}

static void box_uses_a_socket(void *user)
{
    char line[256];
    int fd = box_dial("db.lazaret", 7000);

    (void)user;
    box_puts(fd, "to the host\n");
    MUST(box_line(fd, line) && strcmp(line, "to the host") == 0);
}

static void a_socket_of_the_host_has_a_name(void)
{
    char path[] = "/tmp/laz-network-XXXXXX", rule[256];
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const char *const list[] = {rule, NULL};
    struct world world;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
    snprintf(at.sun_path, sizeof at.sun_path, "%s/s", path);
    snprintf(rule, sizeof rule, "{\"name\":\"db.lazaret:7000\",\"unix\":\"%s\"}", at.sun_path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_EQUAL_FATAL(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    CU_ASSERT_EQUAL_FATAL(listen(listener, 5), 0);
    world_open(&world, list);
    world_start(&world, box_uses_a_socket, NULL);
    world_until(&world, 1);
    int fd = accept(listener, NULL, NULL);
    CU_ASSERT_TRUE_FATAL(fd >= 0);
    char data[64];
    while (world.io) {
        ssize_t n = recv(fd, data, sizeof data, MSG_DONTWAIT);
        if (n > 0)
            CU_ASSERT_EQUAL(send(fd, data, (size_t)n, 0), n);
        laz_loop_step(world.driver.loop, n > 0 ? LAZ_LOOP_FOREVER : 1);
    }
    world_finish(&world);
    close(fd);
    world_until(&world, 0);
    world_close(&world);
    close(listener);
    unlink(at.sun_path);
    rmdir(path);
}

static void box_uses_a_link(void *user)
{
    char data[8];
    int fd = box_dial("db.lazaret", 7000);

    (void)user;
    MUST(recv(fd, data, sizeof data, 0) == -1 && errno == ECONNRESET);
}

/* Code that may write the directory replaces the socket, or a directory on the way. */
static void no_link_leads_to_another_socket(void)
{
    static const char *const ends[] = {"link", "way/s"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char path[] = "/tmp/laz-network-XXXXXX", rule[256], link[2][64];
        struct sockaddr_un at = {.sun_family = AF_UNIX};
        const char *const list[] = {rule, NULL};
        struct world world;

        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
        snprintf(at.sun_path, sizeof at.sun_path, "%s/s", path);
        snprintf(link[0], sizeof link[0], "%s/link", path);
        snprintf(link[1], sizeof link[1], "%s/way", path);
        snprintf(rule, sizeof rule, "{\"name\":\"db.lazaret:7000\",\"unix\":\"%s/%s\"}", path,
                 ends[i]);
        CU_ASSERT_EQUAL_FATAL(symlink(at.sun_path, link[0]) | symlink(path, link[1]), 0);
        int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CU_ASSERT_EQUAL_FATAL(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
        CU_ASSERT_EQUAL_FATAL(listen(listener, 5), 0);
        const pid_t server = fork();
        if (server == 0) {
            close(accept(listener, NULL, NULL));
            _exit(0);
        }
        world_open(&world, list);
        world_start(&world, box_uses_a_link, NULL);
        world_finish(&world);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
        CU_ASSERT_EQUAL_FATAL(world.n_denials, 1);
        CU_ASSERT_EQUAL(world.denials.items[0].what, LAZ_DENIED_UNREACHABLE);
        CU_ASSERT_PTR_NOT_NULL(strstr(world.denials.items[0].detail, "symbolic link"));
        world_close(&world);
        close(listener);
        unlink(link[0]);
        unlink(link[1]);
        unlink(at.sun_path);
        rmdir(path);
    }
}

static const struct unit_test tests[] = {
    UNIT(all_that_is_sent_arrives),
    UNIT(all_that_is_answered_arrives),
    UNIT(nobody_who_does_not_read_fills_memory),
    UNIT(a_reset_of_the_server_is_passed_on),
    UNIT(a_reset_of_the_box_ends_it),
    UNIT(what_waits_for_a_box_that_is_gone_ends),
    UNIT(a_socket_of_the_host_has_a_name),
    UNIT(no_link_leads_to_another_socket),
    {0},
};

int main(void)
{
    return unit_run("network bytes", world_begin() ? tests : world_missing);
}
