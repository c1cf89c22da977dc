/* SPDX-License-Identifier: MIT */
/* test_network.c - what a box with a network list reaches, and what it does not. */
#include "network_world.h"
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PUBLIC "93.184.216.34"
#define OTHER  "93.184.216.35"
#define NOBODY "93.184.216.99"

static const struct world_name names[] = {
    {"plain.example", {PUBLIC}, 1, false},
    {"web.example", {PUBLIC}, 1, false},
    {"tls.example", {PUBLIC}, 1, false},
    {"six.example", {"2001:4860::1", PUBLIC}, 2, false},
    {"private.example", {"10.1.2.3"}, 1, false},
    {"loop.example", {"127.0.0.1"}, 1, false},
    {"mixed.example", {"192.168.7.7", PUBLIC, "127.0.0.1"}, 3, false},
    {"rebind.example", {PUBLIC, "127.0.0.1"}, 1, false},
    {"several.example", {NOBODY, OTHER}, 2, false},
    {"nowhere.example", {NOBODY}, 1, false},
    {"silent.example", {PUBLIC}, 1, true},
    {"internal.example", {"10.1.2.3"}, 1, false},
};
#define N_NAMES (sizeof names / sizeof names[0])

static void begin(struct world *world, const char *const *allow)
{
    world_dns(names, N_NAMES);
    world_open(world, allow);
}

static void end(struct world *world)
{
    world_close(world);
    world_end_servers();
}

/* ---- names ----------------------------------------------------------------------------------- */

static void box_echoes(void *user)
{
    const char *const *dial = user; /* a name, then the address that has to be reached */
    char line[256];
    int fd = box_dial(dial[0], 7000);

    MUST(box_line(fd, line) && strcmp(line, dial[1]) == 0);
    box_puts(fd, "hello\n");
    MUST(box_line(fd, line) && strcmp(line, "hello") == 0);
    close(fd);
}

static void a_listed_name_is_reached(void)
{
    static const char *const dial[] = {"plain.example", PUBLIC};
    static const char *const allow[] = {"plain.example:7000", NULL};
    struct world world;
    uint64_t out, in;

    begin(&world, allow);
    world_serve(WORLD_ECHO, PUBLIC, 7000);
    world_run(&world, box_echoes, (void *)dial);
    world_until(&world, 0);
    CU_ASSERT_EQUAL(world.n_denials, 0);
    CU_ASSERT_EQUAL(world_asked(names, "plain.example"), 2); /* A and AAAA */
    laz_network_bytes(world.network, &out, &in);
    CU_ASSERT_EQUAL(out, 6);
    CU_ASSERT_EQUAL(in, 6 + sizeof PUBLIC);
    end(&world);
}

static void box_asks_for_others(void *user)
{
    (void)user;
    MUST(box_look_up("secret.data.example") == 0);
    MUST(box_look_up("secret.data.example") == 0);
    MUST(box_look_up("plain.example") >> 17 == 0xc612u >> 1); /* 198.18.0.0/15 */
}

static void an_unlisted_name_is_asked_nowhere(void)
{
    static const char *const allow[] = {"plain.example:7000", NULL};
    struct world world;

    begin(&world, allow);
    world_run(&world, box_asks_for_others, NULL);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_NAME, "secret.data.example"), 2);
    CU_ASSERT_TRUE(world_denial(&world, LAZ_DENIED_NAME)->is_permanent);
    UNIT_TEXT(world_denial(&world, LAZ_DENIED_NAME)->allow,
              "allow = [\"https://secret.data.example\"]");
    CU_ASSERT_EQUAL(world_asked(names, "plain.example"), 0);
    end(&world);
}

static void box_asks_for_the_host(void *user)
{
    (void)user;
    MUST(box_look_up("host.lazaret") == 0);
}

/* No line of the list is enough; so the denial says which key is. */
static void who_misses_the_host_is_told_how_it_is_offered(void)
{
    static const char *const allow[] = {"plain.example:7000", NULL};
    struct laz_strv list = LAZ_STRV_INIT;
    struct laz_network_rules *rules = NULL;
    struct world world;

    begin(&world, allow);
    laz_strv_add(&list, allow[0]);
    CU_ASSERT_EQUAL(laz_network_rules_other(world.rules, &list, &rules, NULL, NULL), 0);
    CU_ASSERT_EQUAL(laz_network_change(world.network, rules, NULL), 0);
    laz_network_rules_drop(rules);
    laz_strv_fini(&list);
    world_run(&world, box_asks_for_the_host, NULL);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_NAME, "host.lazaret"), 1);
    UNIT_TEXT(world_denial(&world, LAZ_DENIED_NAME)->detail,
              "a service of the host is offered by ports below [network.host]");
    UNIT_TEXT(world_denial(&world, LAZ_DENIED_NAME)->allow, "");
    end(&world);
}

static void box_is_reset_at(void *user)
{
    int fd = box_dial(user, 7000);

    MUST(box_is_reset(fd));
    close(fd);
}

/* Each name has no address that may be used. */
static void private_answers_are_refused(void)
{
    static const char *const allow[] = {"private.example:7000", "loop.example:7000",
                                        "*.example:7000", NULL};
    static const char *const those[] = {"private.example", "loop.example", "internal.example"};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_ECHO, "0.0.0.0", 7000);
    for (size_t i = 0; i < 3; i++) {
        world_run(&world, box_is_reset_at, (void *)those[i]);
        CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_PRIVATE, those[i]), 1);
    }
    UNIT_TEXT(world_denial(&world, LAZ_DENIED_PRIVATE)->detail,
              "10.1.2.3 is not a public address: private; the rule permits it when it is in its "
              "`to`");
    end(&world);
}

static void a_rule_may_name_private_addresses(void)
{
    static const char *const allow[] = {
        "{\"host\":\"internal.example:7000\",\"to\":[\"10.0.0.0/8\"]}", NULL};
    static const char *const dial[] = {"internal.example", "10.1.2.3"};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_ECHO, "0.0.0.0", 7000);
    world_run(&world, box_echoes, (void *)dial);
    CU_ASSERT_EQUAL(world.n_denials, 0);
    end(&world);
}

static void an_address_of_the_configuration_is_not_looked_up(void)
{
    static const char *const allow[] = {"fixed.example:7000", NULL};
    static const char *const dial[] = {"fixed.example", "10.9.9.9"};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_ECHO, "0.0.0.0", 7000);
    world_run(&world, box_echoes, (void *)dial);
    CU_ASSERT_EQUAL(world.n_denials, 0);
    CU_ASSERT_EQUAL(world_asked(names, NULL), 0);
    end(&world);
}

static void of_several_answers_only_good_ones_are_used(void)
{
    static const char *const allow[] = {"*:7000", NULL};
    static const char *const mixed[] = {"mixed.example", PUBLIC};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_ECHO, "0.0.0.0", 7000);
    world_run(&world, box_echoes, (void *)mixed);
    CU_ASSERT_EQUAL(world.n_denials, 0);
    end(&world);
}

static void the_next_address_is_tried(void)
{
    static const char *const allow[] = {"*:7000", NULL};
    static const char *const several[] = {"several.example", OTHER};
    static const char *const six[] = {"six.example", PUBLIC};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_ECHO, OTHER, 7000);
    world_serve(WORLD_ECHO, PUBLIC, 7000);
    world_run(&world, box_echoes, (void *)several);
    world_run(&world, box_echoes, (void *)six);
    CU_ASSERT_EQUAL(world.n_denials, 0);
    end(&world);
}

/* One lookup for a connection: what the name becomes later reaches nothing. */
static void rebinding_wins_nothing(void)
{
    static const char *const allow[] = {"rebind.example:7000", NULL};
    static const char *const dial[] = {"rebind.example", PUBLIC};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_ECHO, "0.0.0.0", 7000);
    world_run(&world, box_echoes, (void *)dial);
    world_run(&world, box_is_reset_at, (void *)dial[0]);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_PRIVATE, dial[0]), 1);
    end(&world);
}

static void what_is_unreachable_says_why(void)
{
    static const char *const allow[] = {"*.example:7000", NULL};
    const struct laz_denial *denial;
    struct world world;

    begin(&world, allow);
    world_run(&world, box_is_reset_at, (void *)"nowhere.example");
    denial = world_denial(&world, LAZ_DENIED_UNREACHABLE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(denial);
    UNIT_TEXT(denial->detail, strerror(ECONNREFUSED));
    CU_ASSERT_FALSE(denial->is_permanent);
    world_run(&world, box_is_reset_at, (void *)"missing.example");
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_UNREACHABLE, "missing.example"), 1);
    CU_ASSERT_TRUE(strstr(world.denials.items[1].detail, "not found") != NULL);
    CU_ASSERT_EQUAL(world_asked(names, NULL), 2); /* A and AAAA: of that name alone */
    end(&world);
}

/* ---- addresses, ports, protocols ------------------------------------------------------------- */

static void box_tries_addresses(void *user)
{
    const struct sockaddr_in far = {
        .sin_family = AF_INET, .sin_port = htons(443), .sin_addr.s_addr = htonl(0x08080808)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
    char line[256];
    int fd = box_connect_text(PUBLIC, 7000);

    (void)user;
    MUST(fd >= 0 && box_is_reset(fd)); /* there is a listener */
    MUST(box_connect_text(PUBLIC, 81) < 0 && errno == ECONNREFUSED);
    MUST(box_connect(box_look_up("plain.example"), 81) < 0 && errno == ECONNREFUSED);
    fd = box_connect_text("198.18.200.200", 7000); /* a false address that nobody has */
    MUST(fd >= 0 && box_is_reset(fd));
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    MUST(sendto(fd, "x", 1, 0, (const struct sockaddr *)&far, sizeof far) == 1);
    fd = socket(AF_INET6, SOCK_STREAM, 0);
    MUST(inet_pton(AF_INET6, "2606:4700::1111", &six.sin6_addr) == 1);
    MUST(connect(fd, (struct sockaddr *)&six, sizeof six) < 0);
    fd = box_connect_text(OTHER, 7000); /* a rule for the address */
    MUST(fd >= 0 && box_line(fd, line) && strcmp(line, OTHER) == 0);
    MUST(box_connect_text("127.0.0.1", 99) < 0 && errno == ECONNREFUSED);
    fd = box_connect_text("127.0.0.1", 7000);
    MUST(fd >= 0 && box_is_reset(fd));
}

static void other_addresses_and_ports_are_refused(void)
{
    static const char *const allow[] = {"plain.example:7000", OTHER ":7000", NULL};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_ECHO, "0.0.0.0", 7000);
    world_serve(WORLD_ECHO, "0.0.0.0", 81);
    world_run(&world, box_tries_addresses, NULL);
    laz_network_catch_up(world.network);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_ADDRESS, PUBLIC), 2);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_PORT, "plain.example"), 1);
    CU_ASSERT_EQUAL(world_denial(&world, LAZ_DENIED_PORT)->port, 81);
    UNIT_TEXT(world_denial(&world, LAZ_DENIED_PORT)->rule, "plain.example:7000");
    UNIT_TEXT(world_denial(&world, LAZ_DENIED_PORT)->allow, "allow = [\"plain.example:81\"]");
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_ADDRESS, "198.18.200.200"), 1);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_PROTOCOL, "8.8.8.8"), 1);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_ADDRESS, "2606:4700::1111"), 1);
    CU_ASSERT_EQUAL(world.denials.n, 7);
    CU_ASSERT_EQUAL(world.n_denials, 7); /* of loopback only what the host listens to */
    end(&world);
}

static void box_reaches_the_host(void *user)
{
    char line[256];
    int fd = box_dial("host.lazaret", 7000);

    (void)user;
    MUST(box_line(fd, line) && strcmp(line, "127.0.0.1") == 0);
    fd = box_dial("host.lazaret", 7001);
    MUST(box_is_reset(fd));
}

static void a_port_of_the_host_is_reached_by_a_rule_alone(void)
{
    static const char *const allow[] = {"host.lazaret:7000", "plain.example:7001", NULL};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_ECHO, "127.0.0.1", 7000);
    world_serve(WORLD_ECHO, "127.0.0.1", 7001);
    world_run(&world, box_reaches_the_host, NULL);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_PORT, "host.lazaret"), 1);
    end(&world);
}

/* ---- TLS ------------------------------------------------------------------------------------- */

static void box_says_hello(void *user)
{
    uint8_t hello[512], back[512];
    char line[256];

    (void)user;
    const size_t len = box_hello("tls.example", hello);
    for (size_t cut = 1; cut < len; cut += 7) {
        int fd = box_dial("tls.example", 443);
        box_send(fd, hello, cut);
        box_send(fd, hello + cut, len - cut);
        MUST(box_line(fd, line) && strcmp(line, PUBLIC) == 0);
        MUST(recv(fd, back, len, MSG_WAITALL) == (ssize_t)len && memcmp(hello, back, len) == 0);
        close(fd);
    }
    int fd = box_dial("tls.example", 443); /* each byte for itself */
    for (size_t i = 0; i < len; i++)
        box_send(fd, hello + i, 1);
    MUST(box_line(fd, line) && recv(fd, back, len, MSG_WAITALL) == (ssize_t)len);
}

static void a_server_name_may_come_in_pieces(void)
{
    static const char *const allow[] = {"https://tls.example", NULL};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_ECHO, PUBLIC, 443);
    world_run(&world, box_says_hello, NULL);
    CU_ASSERT_EQUAL(world.n_denials, 0);
    end(&world);
}

static void box_says_another(void *user)
{
    uint8_t hello[512];
    int fd = box_dial("tls.example", 443);

    (void)user;
    box_send(fd, hello, box_hello("other.example", hello));
    MUST(box_is_reset(fd));
    fd = box_dial("tls.example", 443);
    box_send(fd, hello, box_hello(NULL, hello));
    MUST(box_is_reset(fd));
    fd = box_dial("tls.example", 443);
    box_puts(fd, "SSH-2.0-nothing of TLS\r\n");
    MUST(box_is_reset(fd));
}

/* A second ClientHello that the server asks for, behind what may come before it. */
static void box_says_hello_again(void *user)
{
    static const uint8_t between[] = {20, 3, 3, 0, 1, 1};
    uint8_t hello[512], back[512];
    const size_t len = box_hello("tls.example", hello);
    int fd = box_dial("tls.example", 443);

    (void)user;
    box_send(fd, hello, len);
    box_send(fd, between, sizeof between);
    MUST(recv(fd, back, 43, MSG_WAITALL) == 43);
    box_send(fd, hello, len);
    MUST(recv(fd, back, sizeof between + len, MSG_WAITALL) == (ssize_t)(sizeof between + len));
    MUST(memcmp(back + sizeof between, hello, len) == 0);
    box_puts(fd, "whatever");
    MUST(recv(fd, back, 8, MSG_WAITALL) == 8);
    close(fd);
    for (int waits = 0; waits < 2; waits++) {
        fd = box_dial("tls.example", 443);
        box_send(fd, hello, box_hello("tls.example", hello));
        MUST(!waits || recv(fd, back, 43, MSG_WAITALL) == 43);
        box_send(fd, hello, box_hello("other.example", hello));
        while (recv(fd, back, sizeof back, 0) > 0)
            ;
        MUST(errno == ECONNRESET);
        close(fd);
    }
}

static void a_second_server_name_is_judged(void)
{
    static const char *const allow[] = {"https://tls.example", "https://other.example", NULL};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_RETRY, "0.0.0.0", 443);
    world_run(&world, box_says_hello_again, NULL);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_SERVER_NAME, "tls.example"), 2);
    end(&world);
}

static void another_server_name_is_refused(void)
{
    static const char *const allow[] = {"https://tls.example", "https://other.example", NULL};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_ECHO, "0.0.0.0", 443);
    world_run(&world, box_says_another, NULL);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_SERVER_NAME, "tls.example"), 2);
    UNIT_TEXT(world_denial(&world, LAZ_DENIED_SERVER_NAME)->detail,
              "the server name was \"other.example\"");
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_PROTOCOL, "tls.example"), 1);
    CU_ASSERT_EQUAL(world_asked(names, "tls.example"), 0); /* nothing was looked up */
    end(&world);
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

static void box_answer(int fd, const char *first)
{
    char line[256];

    MUST(box_line(fd, line) && strcmp(line, "HTTP/1.1 200 OK\r") == 0);
    MUST(box_line(fd, line) && box_line(fd, line));
    MUST(box_line(fd, line) && strcmp(line, first) == 0);
}

static void box_asks_by_http(void *user)
{
    int fd = box_dial("web.example", 80);

    (void)user;
    box_puts(fd, "GET /1 HTTP/1.1\r\nHost: web.example\r\n\r\n");
    box_answer(fd, "GET /1 HTTP/1.1");
    box_puts(fd, "GET /2 HTTP/1.1\r\nHost: web.example\r\n\r\n"
                 "GET /3 HTTP/1.1\r\nHost: WEB.example.\r\n\r\n");
    box_answer(fd, "GET /2 HTTP/1.1");
    box_answer(fd, "GET /3 HTTP/1.1");
    box_puts(fd, "GET /4 HTTP/1.1\r\nHost: other.example\r\n\r\n");
    MUST(box_is_reset(fd));
    fd = box_dial("web.example", 80);
    box_puts(fd, "GET / HTTP/1.1\r\nHost: web.example\r\nHost: other.example\r\n\r\n");
    MUST(box_is_reset(fd));
}

static void each_host_is_judged(void)
{
    static const char *const allow[] = {"http://web.example", NULL};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_HTTP, PUBLIC, 80);
    world_run(&world, box_asks_by_http, NULL);
    CU_ASSERT_EQUAL(world_denied(&world, LAZ_DENIED_HOST, "web.example"), 2);
    UNIT_TEXT(world_denial(&world, LAZ_DENIED_HOST)->detail, "the host was \"other.example\"");
    end(&world);
}

static void box_switches(void *user)
{
    char line[256];
    int fd = box_dial("web.example", 80);

    (void)user;
    box_puts(fd, "GET /chat HTTP/1.1\r\nHost: web.example\r\nConnection: upgrade\r\n"
                 "Upgrade: websocket\r\n\r\nearly\n");
    MUST(box_line(fd, line) && strcmp(line, "HTTP/1.1 101 Switching Protocols\r") == 0);
    do
        MUST(box_line(fd, line));
    while (strcmp(line, "\r") != 0);
    MUST(box_line(fd, line) && strcmp(line, "early") == 0);
    box_puts(fd, "GET / HTTP/1.1 of the new protocol\n");
    MUST(box_line(fd, line) && strcmp(line, "GET / HTTP/1.1 of the new protocol") == 0);
}

/* A request for an upgrade has a body, which is not held back while the server thinks. */
static void box_sends_a_body(void *user)
{
    char line[256];
    int fd = box_dial("web.example", 80);

    (void)user;
    box_puts(fd, "POST / HTTP/1.1\r\nHost: web.example\r\nConnection: upgrade\r\nUpgrade: x\r\n"
                 "Content-Length: 300000\r\n\r\n");
    for (int i = 0; i < 100; i++)
        box_send(fd, (char[3000]){0}, 3000);
    MUST(box_line(fd, line));
}

static void a_body_does_not_wait_for_an_upgrade(void)
{
    static const char *const allow[] = {"http://web.example", NULL};
    struct world world;
    uint64_t out, in;

    begin(&world, allow);
    world_serve(WORLD_SINK, PUBLIC, 80);
    world_start(&world, box_sends_a_body, NULL);
    do {
        laz_loop_step(world.driver.loop, LAZ_LOOP_FOREVER);
        laz_network_bytes(world.network, &out, &in);
    } while (out < 300000 && world.io);
    CU_ASSERT_TRUE(out >= 300000);
    world_kill(&world);
    world_until(&world, 0);
    end(&world);
}

static void a_websocket_is_let_through(void)
{
    static const char *const allow[] = {"http://web.example", NULL};
    struct world world;

    begin(&world, allow);
    world_serve(WORLD_SWITCH, PUBLIC, 80);
    world_run(&world, box_switches, NULL);
    CU_ASSERT_EQUAL(world.n_denials, 0);
    end(&world);
}

static const struct unit_test tests[] = {
    UNIT(a_listed_name_is_reached),
    UNIT(an_unlisted_name_is_asked_nowhere),
    UNIT(who_misses_the_host_is_told_how_it_is_offered),
    UNIT(private_answers_are_refused),
    UNIT(a_rule_may_name_private_addresses),
    UNIT(an_address_of_the_configuration_is_not_looked_up),
    UNIT(of_several_answers_only_good_ones_are_used),
    UNIT(the_next_address_is_tried),
    UNIT(rebinding_wins_nothing),
    UNIT(what_is_unreachable_says_why),
    UNIT(other_addresses_and_ports_are_refused),
    UNIT(a_port_of_the_host_is_reached_by_a_rule_alone),
    UNIT(a_server_name_may_come_in_pieces),
    UNIT(another_server_name_is_refused),
    UNIT(a_second_server_name_is_judged),
    UNIT(each_host_is_judged),
    UNIT(a_websocket_is_let_through),
    UNIT(a_body_does_not_wait_for_an_upgrade),
    {0},
};

int main(void)
{
    return unit_run("network", world_begin() ? tests : world_missing);
}
