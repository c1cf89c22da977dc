/* SPDX-License-Identifier: MIT */
/* test_box_network.c - boxes with a network list, in which this process listens: cold, and from
 * templates.
 *
 * The boxes are those of an engine, but this test is their owner in place of a session, and gives
 * the agent the confinement that it likes.  A session of the engine lends what they need. */
#include "live.h"
#include "traces.h"

#include "base/clock.h"
#include "base/json.h"
#include "box/template.h"
#include "os/current_process.h"
#include "session/session.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint16_t ports[] = {80, 443};
#define N_PORTS (sizeof ports / sizeof *ports)

/* ---- owners of boxes ------------------------------------------------------------------------ */

struct own {
    struct laz_session *lender;
    struct laz_box *box;
    struct laz_os_network network;
    const char *confine; /* NULL: that of its plan */
    bool is_ready, is_broken, has_ended;
    char value[512]; /* of the last execution, JSON */
    uint64_t begun, ready_us, listened_us;
};

static bool own_send(struct own *own, const struct laz_message *message)
{
    struct laz_buf line = LAZ_BUF_INIT;

    laz_message_make(message, &line);
    const bool sent = !line.failed && laz_box_send(own->box, line.data, line.len, 1 << 20);
    laz_buf_fini(&line);
    return sent;
}

/* While the agent prepares itself, as sessions do. */
static void own_listen(struct own *own)
{
    struct laz_error err = {0};
    const uint64_t begun = laz_clock_us();

    int rc = laz_box_listen(own->box, ports, N_PORTS, &own->network, &err);
    own->listened_us = laz_clock_us() - begun;
    if (rc)
        printf("\n    not listening: %s\n", err.text);
    CU_ASSERT_EQUAL(rc, 0);
}

static void own_authenticated(void *user)
{
    struct own *own = user;
    const struct laz_session *lender = own->lender;
    struct laz_buf confine = LAZ_BUF_INIT;
    struct laz_message init = {
        .type = LAZ_MESSAGE_INIT,
        .protocol = LAZ_PROTOCOL,
        .is_same = !own->confine && laz_template_knows(own->box, lender->shared_json),
        .tools = "[]",
        .tools_len = 2,
    };

    laz_plan_confine_json(own->box->plan, &confine);
    if (!init.is_same) {
        init.options = (struct laz_wire_options){
            .runtime_file = own->box->runtime_file,
            .libraries = lender->runtime->libraries,
            .max_message = 1 << 20,
            .max_value = 1 << 20,
            .max_files = 1,
            .max_parts = 1 << 20,
            .options = laz_buf_text(&lender->runtime_options),
            .options_len = lender->runtime_options.len,
        };
        init.confine = own->confine ? own->confine : laz_buf_text(&confine);
        init.confine_len = strlen(init.confine);
    } else {
        init.tools = NULL;
        init.tools_len = 0;
    }
    CU_ASSERT(own_send(own, &init));
    laz_buf_fini(&confine);
    if (own->box->has_network)
        own_listen(own);
}

static bool own_line(void *user, char *line, size_t len)
{
    struct own *own = user;
    const char *raw;
    size_t n;

    if (laz_json_member(line, len, "type", &raw, &n) && n == 7 &&
        strncmp(raw, "\"ready\"", n) == 0) {
        own->is_ready = true;
        own->ready_us = laz_clock_us() - own->begun;
        laz_box_settle(own->box);
    } else if (laz_json_member(line, len, "value", &raw, &n)) {
        snprintf(own->value, sizeof own->value, "%.*s", (int)n, raw);
    } else {
        snprintf(own->value, sizeof own->value, "%.*s", (int)len, line);
    }
    return true;
}

static bool own_output(void *user, int stream, const char *data, size_t len)
{
    (void)user, (void)stream;
    printf("%.*s", (int)len, data);
    return true;
}

static void own_broken(void *user, const struct laz_error *why)
{
    struct own *own = user;

    printf("\n    broken: %s\n", why->text);
    own->is_broken = true;
}

static void own_ended(void *user)
{
    ((struct own *)user)->has_ended = true;
}

static void own_turn(struct own *own)
{
    CU_ASSERT_EQUAL_FATAL(laz_engine_step(test_engine_of(own->lender), -1, NULL), 0);
}

/* A box that is up, in which this process listens if it has a network; false: none. */
static bool own_begin(struct own *own, struct laz_session *lender, bool is_warm, bool has_network,
                      const char *confine)
{
    static const struct laz_box_owner calls = {
        .authenticated = own_authenticated,
        .line = own_line,
        .output = own_output,
        .broken = own_broken,
        .ended = own_ended,
    };
    struct laz_box_shared *boxes = lender->shared->boxes;
    struct laz_box_owner owner = calls;
    struct laz_error err = {0};
    struct laz_box_purpose purpose = {
        .runtime = lender->runtime,
        .read = &lender->runtime_paths,
        .choice = &boxes->choice,
        .has_network = has_network,
    };
    const struct laz_template_source source = {
        .runtime = lender->runtime,
        .options = laz_buf_text(&lender->runtime_options),
        .read = &lender->runtime_paths,
        .tools = lender->shared_json,
        .has_network = has_network,
    };

    *own = (struct own){.lender = lender, .confine = confine, .network = LAZ_OS_NETWORK_NONE};
    owner.user = own;
    own->begun = laz_clock_us();
    int rc = is_warm ? laz_template_for(boxes, &source, &purpose, &err) : 0;
    if (!rc)
        rc = laz_box_start(boxes, &purpose, &owner, &own->box, &err);
    if (rc)
        printf("\n    no box: %s\n", err.text);
    else if (has_network) /* its token has not come */
        CU_ASSERT_EQUAL(laz_box_listen(own->box, ports, N_PORTS, &own->network, NULL), LAZ_ECLOSED);
    CU_ASSERT_EQUAL(rc, 0);
    while (!rc && !own->is_ready && !own->is_broken && !own->has_ended)
        own_turn(own);
    CU_ASSERT(own->is_ready);
    return own->is_ready;
}

static const char *own_run(struct own *own, const char *code)
{
    const struct laz_message execute = {.type = LAZ_MESSAGE_EXECUTE,
                                        .has_id = true,
                                        .id = 1,
                                        .code = code,
                                        .code_len = strlen(code)};

    own->value[0] = '\0';
    CU_ASSERT(own_send(own, &execute));
    while (!own->value[0] && !own->is_broken && !own->has_ended)
        own_turn(own);
    return own->value;
}

static void own_holds(struct own *own, const char *code)
{
    const char *value = own_run(own, code);

    if (strcmp(value, "true") != 0)
        printf("\n    %s: %s\n", code, value);
    CU_ASSERT_STRING_EQUAL(value, "true");
}

static void own_end(struct own *own)
{
    laz_os_network_close(&own->network);
    if (!own->box)
        return;
    laz_box_kill(own->box);
    while (!own->has_ended)
        own_turn(own);
    laz_box_release(own->box);
}

/* ---- in a box ------------------------------------------------------------------------------- */

static const char prelude[] =
    "import ctypes, errno, fcntl, os, socket, struct\n"
    "def answer(f, *a):\n"
    "    try:\n"
    "        f(*a)\n"
    "        return 0\n"
    "    except OSError as e:\n"
    "        return e.errno\n"
    "def connect(host, port):\n"
    "    s = socket.socket()\n"
    "    s.settimeout(600)\n"
    "    s.connect((host, port))\n"
    "    return s.getpeername()\n"
    "def status(name):\n"
    "    return [l.split()[1] for l in open('/proc/self/status') if l.startswith(name + ':')][0]\n"
    "def lower():\n" /* SIOCSIFFLAGS: the loopback interface without IFF_UP */
    "    return fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh14s', b'lo', 0, b''))\n"
    "True";

static struct laz_session *lender(struct laz_engine *engine)
{
    return engine ? test_session(engine, "python") : NULL;
}

/* For each kind of box: a new engine, and what is left of it. */
static void with_boxes(void (*body)(struct laz_session *lender, bool is_warm))
{
    for (int is_warm = 0; is_warm < 2; is_warm++) {
        struct laz_engine *engine =
            test_engine(is_warm ? "pool.warm='template'" : "pool.warm='cold'");
        struct laz_session *session = lender(engine);
        if (session)
            body(session, is_warm);
        laz_session_free(session);
        laz_engine_free(engine);
        CU_ASSERT_EQUAL(trace_children(), 0);
    }
}

static uint32_t accepted(int listener, uint16_t *port)
{
    struct sockaddr_in wanted = {0};
    socklen_t len = sizeof wanted;
    struct pollfd one = {.fd = listener, .events = POLLIN};

    CU_ASSERT_EQUAL_FATAL(poll(&one, 1, UNIT_HANG_MS), 1);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CU_ASSERT(fd >= 0 && getsockname(fd, (struct sockaddr *)&wanted, &len) == 0);
    close(fd);
    *port = ntohs(wanted.sin_port);
    return wanted.sin_addr.s_addr;
}

static void reaches_the_host(struct laz_session *session, bool is_warm)
{
    struct own own;
    uint16_t port;
    uint8_t packet[LAZ_OS_WATCH_BYTES];

    if (own_begin(&own, session, is_warm, true, NULL)) {
        own_holds(&own, prelude);
        own_holds(&own, "connect('198.18.0.1', 443) == ('198.18.0.1', 443)");
        CU_ASSERT_EQUAL(accepted(own.network.listeners[1], &port), inet_addr("198.18.0.1"));
        CU_ASSERT_EQUAL(port, 443);
        own_holds(&own, "connect('93.184.216.34', 80)[1] == 80");
        CU_ASSERT_EQUAL(accepted(own.network.listeners[0], &port), inet_addr("93.184.216.34"));
        own_holds(&own, "answer(connect, '93.184.216.34', 8081) == errno.ECONNREFUSED");
        CU_ASSERT(laz_os_network_hear(&own.network, packet) >= 40);
        own_holds(&own, "d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
                        "d.sendto(b'q', ('127.0.0.1', 53)) == 1");
        CU_ASSERT_EQUAL(recv(own.network.dns_udp, packet, sizeof packet, 0), 1);
        CU_ASSERT(own.box->tcp_bytes > 0);
        CU_ASSERT_EQUAL(own.box->tcp_listeners, 3);
    }
    own_end(&own);
}

static void box_reaches_what_the_host_listens_to(void)
{
    with_boxes(reaches_the_host);
}

/* Without a filter it is the kernel that refuses. A template has a filter already. */
static void has_no_rights(struct laz_session *session, bool is_warm)
{
    struct own own;

    if (own_begin(&own, session, is_warm, true, is_warm ? NULL : "{}")) {
        own_holds(&own, prelude);
        own_holds(&own, "all(int(status(n), 16) == 0 for n in ('CapEff', 'CapPrm', 'CapInh', "
                        "'CapAmb')) and status('NoNewPrivs') == '1'");
        own_holds(&own, "answer(lower) == errno.EPERM");
        if (!is_warm) {
            own_holds(&own, "answer(socket.socket, socket.AF_INET, socket.SOCK_RAW, 6) == "
                            "answer(socket.socket, socket.AF_PACKET, socket.SOCK_DGRAM) == "
                            "errno.EPERM");
            own_holds(&own, "libc = ctypes.CDLL(None, use_errno=True); "
                            "libc.unshare(0x10000000) == -1"); /* CLONE_NEWUSER */
        }
        own_holds(&own, "s = socket.socket(); s.setsockopt(1, socket.SO_REUSEPORT, 1); "
                        "answer(s.bind, ('0.0.0.0', 443)) in (errno.EACCES, errno.EADDRINUSE)");
        own_holds(&own, "answer(connect, '198.18.0.1', 443) == 0"); /* the interface is up */
    }
    own_end(&own);
}

static void box_has_no_rights_over_its_network(void)
{
    with_boxes(has_no_rights);
}

static void space_of(struct own *own, char *space, size_t size)
{
    snprintf(space, size, "%s", own_run(own, "import os; os.readlink('/proc/self/ns/net')"));
    CU_ASSERT_PTR_NOT_NULL(strstr(space, "net:["));
}

static void cannot_meet(struct laz_session *session, bool is_warm)
{
    struct own first, second;
    char spaces[2][64];

    if (own_begin(&first, session, is_warm, true, NULL) &&
        own_begin(&second, session, is_warm, true, NULL)) {
        own_holds(&first, prelude);
        own_holds(&second, prelude);
        own_holds(&first, "s = socket.create_server(('127.0.0.1', 8080)); "
                          "connect('127.0.0.1', 8080)[1] == 8080");
        own_holds(&second, "answer(connect, '127.0.0.1', 8080) == errno.ECONNREFUSED");
        space_of(&first, spaces[0], sizeof spaces[0]);
        space_of(&second, spaces[1], sizeof spaces[1]);
        CU_ASSERT_STRING_NOT_EQUAL(spaces[0], spaces[1]);
    }
    own_end(&second);
    own_end(&first);
}

static void two_boxes_cannot_meet(void)
{
    with_boxes(cannot_meet);
}

/* Is a process in the namespace ("net:[NUMBER]")? */
static bool is_used(const char *space)
{
    DIR *all = opendir("/proc");
    bool found = false;
    struct dirent *entry;

    while ((entry = readdir(all))) {
        char path[300], text[64];
        snprintf(path, sizeof path, "/proc/%s/ns/net", entry->d_name);
        ssize_t n = readlink(path, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        found |= n > 0 && strstr(space, text);
    }
    closedir(all);
    return found;
}

static void leaves_nothing(struct laz_session *session, bool is_warm)
{
    char space[64];
    int before = 0;

    for (int i = 0; i < 5; i++) {
        struct own own;
        if (own_begin(&own, session, is_warm, true, NULL)) {
            struct laz_os_network late;
            space_of(&own, space, sizeof space);
            CU_ASSERT(is_used(space));
            if (i % 2)
                own_holds(&own, "import socket; s = socket.socket(); "
                                "s.connect(('198.18.0.1', 443)) is None");
            laz_box_kill(own.box);
            CU_ASSERT_EQUAL(laz_box_listen(own.box, ports, N_PORTS, &late, NULL), LAZ_ECLOSED);
        }
        own_end(&own);
        CU_ASSERT_FALSE(is_used(space));
        if (i == 1) /* the engine has what it keeps */
            before = trace_descriptors();
    }
    CU_ASSERT_EQUAL(trace_descriptors(), before);
}

static void killed_box_leaves_no_network(void)
{
    with_boxes(leaves_nothing);
}

/* The other boxes of the engine are what they were. */
static void is_without(struct laz_session *session, bool is_warm)
{
    struct own own;
    struct laz_os_network none;

    if (own_begin(&own, session, is_warm, false, NULL)) {
        CU_ASSERT_EQUAL(laz_box_listen(own.box, ports, N_PORTS, &none, NULL), LAZ_EINVAL);
        own_holds(&own, prelude);
        own_holds(&own, "answer(socket.socket) == errno.EPERM");
    }
    own_end(&own);
}

static void box_without_a_list_has_no_sockets(void)
{
    with_boxes(is_without);
}

/* ---- what it costs -------------------------------------------------------------------------- */

#define COSTS 21

static int compare_us(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Nothing depends on it: it is printed to be read. */
static void costs(struct laz_session *session, bool is_warm)
{
    uint64_t us[3][COSTS];

    for (size_t i = 0; i < COSTS; i++)
        for (int has_network = 0; has_network < 2; has_network++) {
            struct own own;
            if (own_begin(&own, session, is_warm, has_network, NULL)) {
                us[has_network][i] = own.ready_us;
                us[2][i] = own.listened_us;
            }
            own_end(&own);
        }
    for (size_t i = 0; i < 3; i++)
        qsort(us[i], COSTS, sizeof us[i][0], compare_us);
    printf("\n    %s: ready after %llu us without a list, %llu us with one, of which %llu us to "
           "listen "
           "(medians, n %d)\n",
           is_warm ? "template" : "cold", (unsigned long long)us[0][COSTS / 2],
           (unsigned long long)us[1][COSTS / 2], (unsigned long long)us[2][COSTS / 2], COSTS);
}

static void costs_are_printed(void)
{
    with_boxes(costs);
}

static const struct unit_test tests[] = {
    UNIT(box_reaches_what_the_host_listens_to),
    UNIT(box_has_no_rights_over_its_network),
    UNIT(two_boxes_cannot_meet),
    UNIT(killed_box_leaves_no_network),
    UNIT(box_without_a_list_has_no_sockets),
    UNIT(costs_are_printed),
    {0},
};

int main(void)
{
    return unit_run("network box", tests);
}
