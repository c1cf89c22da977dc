/* SPDX-License-Identifier: MIT */
/* template.c - an agent that has loaded its runtime and is copied for each session.
 * Side: box.  Input trusted: yes (the host); untrusted code never runs in this process.
 *
 * A session is made before it is asked for, one ahead.  A *vessel* is a copy of this process in the
 * control groups of the session, in namespaces of its own and with mounts of its own: the first
 * process there.  It forks the process of the session, which confines itself, renews its runtime,
 * and waits.  A spawn hands the vessel the descriptors of the session and the token; the vessel
 * identifies itself to the host, passes the descriptors on, and from then on only reaps.  Nothing
 * of one session is ever in the memory of another: both processes exist before their token has
 * come, and what comes with a spawn is wiped here before the next session is made.
 *
 * A copy has no other threads, but the locks that they held.  So a runtime with threads first goes
 * through a fork(2) of the C library, which runs the handlers that such libraries have
 * (pthread_atfork(3)).  A runtime whose libraries have none (LAZ_RUNTIME_ONE_THREAD) is copied when
 * its threads have ended, and in every copy the process is looked at once more. */
#include "agent/agent.h"

#include "base/clock.h"
#include "base/random.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEMPLATE_READ    4096
#define TEMPLATE_REST_MS 3   /* between a session and the making of the next */
#define TEMPLATE_LOOK_MS 20  /* between looks at the threads */
#define TEMPLATE_THREADS_MS 60000u
#define TEMPLATE_LONG_MS 200 /* a session that lasts longer will last for long */

/* What a spawn comes with, in this order. */
enum template_fd { TEMPLATE_CHANNEL, TEMPLATE_OUT, TEMPLATE_ERR, TEMPLATE_TELL, TEMPLATE_FDS };
#define TEMPLATE_OF_SESSION TEMPLATE_TELL /* so many of them are the session's own */

/* What a vessel receives. It passes it on to the process of the session without the token. */
struct template_order {
    uint64_t sent_us;
    bool adds; /* tools to those of the template, by `init` */
    char token[LAZ_TOKEN_LEN];
};

struct template_fds {
    int items[LAZ_OS_HANDOVER];
    size_t n;
};

struct template
{
    struct agent *agent;
    pid_t vessel; /* the one that waits, or 0 */
    int door;     /* to it */
    bool spawned; /* a session was handed out before */
    bool cut;     /* the last descriptors that were sent did not arrive */
    struct template_fds received;
    struct template_fds groups; /* where the next session is to be */
};

/* ---- the vessel ----------------------------------------------------------------------------- */

/* Process ids must differ from the template's: libraries detect a fork by that (OpenSSL), or use
 * the id as a seed. */
static uint32_t vessel_last_pid(const struct agent *agent)
{
    uint16_t random = 0;
    uint32_t pid;

    laz_random_bytes(&random, sizeof random, NULL);
    pid = 100 + random % 30000;
    return pid + 1 == (uint32_t)agent->pid ? pid + 1 : pid;
}

static struct laz_own_mounts vessel_mounts(const struct agent *agent)
{
    return (struct laz_own_mounts){agent->home, agent->tmp_size, agent->socket_directory,
                                   &agent->shown, LAZ_STAT_OF_SESSIONS};
}

static int vessel_fit_out(struct agent *agent, uid_t uid, gid_t gid, struct laz_error *err)
{
    const struct laz_own_mounts mounts = vessel_mounts(agent);
    uint64_t begun = laz_clock_us();
    int rc = laz_os_map_ids(uid, gid, err);

    if (!rc)
        rc = laz_os_bound_capabilities(err); /* neither it nor its session needs a program's */
    agent_cost(agent, "maps", begun);
    begun = laz_clock_us();
    if (!rc)
        rc = laz_os_own_mounts(&mounts, vessel_last_pid(agent), err);
    agent_cost(agent, "mounts", begun);
    return rc;
}

/* Processes that are started from here on are born in the control groups, and what they use counts
 * there. In version 2 the kernel may wait for a grace period; this process is not needed yet. */
static int vessel_enter(const struct template_fds *groups, struct laz_error *err)
{
    for (size_t i = 0; i < groups->n; i++) {
        ssize_t n;
        while ((n = write(groups->items[i], "0", 1)) < 0 && errno == EINTR)
            ;
        if (n != 1)
            return laz_error_os(err, errno, "the control group of the session cannot be entered");
    }
    return 0;
}

static void vessel_await(struct laz_awaited *fds, size_t n)
{
    while (laz_os_await_any(fds, n, LAZ_OS_FOREVER) == 0) /* interrupted */
        ;
}

/* The host cannot identify a process that has ended before it looked. */
static void vessel_await_init(const struct agent *agent)
{
    vessel_await(&(struct laz_awaited){.fd = agent->channel.fd}, 1);
}

static _Noreturn void vessel_fails(struct agent *agent, const struct laz_error *err)
{
    vessel_await_init(agent);
    agent_setup_failed(agent, err);
    _exit(AGENT_EXIT_SETUP);
}

/* A session that has ended before it was asked for cannot be handed out: the template makes
 * another. Should that one end as well, the order is here, and the reason is reported to the host.
 */
static void vessel_await_order(int door)
{
    struct laz_awaited either[] = {{.fd = AGENT_CHANNEL}, {.fd = door}};

    vessel_await(either, 2);
    if (!either[0].ready)
        _exit(AGENT_EXIT_SETUP);
}

/* Takes an order that comes with so many descriptors. Ends the process when there is none. */
static void vessel_take(struct template_order *order, int fds[LAZ_OS_HANDOVER], size_t wanted)
{
    size_t n;
    ssize_t got = laz_os_receive(AGENT_CHANNEL, order, sizeof *order, fds, &n);

    if (got != (ssize_t)sizeof *order || n != wanted)
        _exit(0);
}

/* Gives back what a process that only waits does not need. Later, and in a long session only: it
 * takes locks of the kernel that the session's first page faults need as well, and at the end all
 * goes anyway. */
static void vessel_shrink(const struct agent *agent, pid_t session)
{
    const struct laz_os_core core = agent->core; /* on the stack, which is kept */
    int pidfd = laz_os_pidfd(session);

    if (pidfd < 0 || laz_os_await(pidfd, TEMPLATE_LONG_MS))
        return;
    close(pidfd);
    laz_os_core_keep(&core);
}

/* Waits for the order, identifies itself to the host, and lets the session go on; `failed`: why
 * there is no session. The process ends when the template does. */
static _Noreturn void vessel_serve(struct agent *agent, pid_t session, int door,
                                   const struct laz_error *failed)
{
    struct template_order order;
    int fds[LAZ_OS_HANDOVER];

    (void)laz_os_landlock_close_kept(&agent->kept); /* the session has its own */
    vessel_await_order(door);
    vessel_take(&order, fds, TEMPLATE_FDS);
    agent->channel.fd = fds[TEMPLATE_CHANNEL];
    const struct laz_part parts[] = {{order.token, sizeof order.token}, {"\n", 1}};
    if (!laz_os_send_parts(agent->channel.fd, parts, 2))
        _exit(0);
    laz_wipe(order.token, sizeof order.token);
    if (failed)
        vessel_fails(agent, failed);
    if (!laz_os_hand_over(door, &order, sizeof order, fds, TEMPLATE_OF_SESSION))
        vessel_await_init(agent); /* it has ended; its status is reported below */
    for (size_t i = 0; i < TEMPLATE_OF_SESSION; i++)
        close(fds[i]);
    close(door);
    close(AGENT_CHANNEL);
    dup2(STDIN_FILENO, STDOUT_FILENO); /* /dev/null: the outputs are those of the template */
    dup2(STDIN_FILENO, STDERR_FILENO);
    vessel_shrink(agent, session);
    agent_reap_session(session, fds[TEMPLATE_TELL]);
}

/* The descriptors of the session, at their numbers. */
static int session_take(struct agent *agent, struct laz_error *err)
{
    struct template_order order;
    int fds[LAZ_OS_HANDOVER], rc = 0;

    vessel_take(&order, fds, TEMPLATE_OF_SESSION);
    agent_cost(agent, "handover", order.sent_us);
    agent->adds_tools = order.adds;
    if (laz_os_dup_onto(fds[TEMPLATE_CHANNEL], AGENT_CHANNEL) < 0 ||
        dup2(fds[TEMPLATE_OUT], STDOUT_FILENO) < 0 || dup2(fds[TEMPLATE_ERR], STDERR_FILENO) < 0)
        rc = laz_error_os(err, errno, "the session's descriptors cannot be set");
    agent->channel.fd = rc ? fds[TEMPLATE_CHANNEL] : AGENT_CHANNEL;
    for (size_t i = 0; i < TEMPLATE_OF_SESSION && !rc; i++)
        close(fds[i]);
    return rc;
}

/* The process of the session: 1. */
static int session_main(struct agent *agent, int door, uint64_t begun)
{
    struct laz_error err = {0};

    if (laz_os_dup_onto(door, AGENT_CHANNEL) < 0) /* that of the vessel is closed by it */
        _exit(AGENT_EXIT_SETUP);
    laz_os_landlock_close_others(&agent->kept, AGENT_CHANNEL + 1);
    setsid();
    agent_cost(agent, "fork", begun);
    agent->role = AGENT_SESSION;
    agent->pid = getpid();
    int rc = agent_start_ahead(agent, &err);
    int took = session_take(agent, rc ? NULL : &err);
    if (rc || took)
        vessel_fails(agent, &err);
    return 1;
}

/* Returns in the process of the session only: 1. */
static int vessel_main(struct template *t, int door, uid_t uid, gid_t gid, uint64_t begun)
{
    struct agent *agent = t->agent;
    struct laz_error err = {0};
    int inner[2];

    agent_cost(agent, "clone", begun);
    int rc = vessel_enter(&t->groups, &err);
    if (laz_os_dup_onto(door, AGENT_CHANNEL) < 0) /* the control connection is closed by it */
        _exit(AGENT_EXIT_SETUP);
    laz_os_landlock_close_others(&agent->kept, AGENT_CHANNEL + 1);
    laz_frame_wipe(&agent->channel.in); /* a session must not see what the template has read */
    agent->channel.in.wipes = false;    /* from here on it is what the session may see */
    signal(SIGCHLD, SIG_DFL);
    setsid(); /* kill(0, ...) would reach the template, whatever the namespaces */
    if (!rc)
        rc = vessel_fit_out(agent, uid, gid, &err);
    if (!rc && laz_os_message_pair(inner))
        rc = laz_error_os(&err, errno, "cannot create a way to the session");
    laz_os_set_open(false);
    if (rc)
        vessel_serve(agent, -1, -1, &err);
    begun = laz_clock_us();
    pid_t pid = fork();
    if (pid == 0)
        return session_main(agent, inner[1], begun);
    close(inner[1]);
    if (pid < 0)
        laz_error_os(&err, errno, "cannot create the process of the session");
    laz_os_default_signals();
    vessel_serve(agent, pid, inner[0], pid < 0 ? &err : NULL);
}

/* Is it copied only while it has one thread? */
static bool template_is_alone(const struct agent *agent)
{
    return agent->ops->size > offsetof(struct laz_runtime_ops, traits) &&
           agent->ops->traits & LAZ_RUNTIME_ONE_THREAD;
}

/* ---- the template --------------------------------------------------------------------------- */

static void template_drop_vessel(struct template *t)
{
    laz_os_close(&t->door);
    t->vessel = 0;
}

/* Makes the next vessel. 1: this is the process of a session. */
static int template_make_vessel(struct template *t, struct laz_error *err)
{
    const uid_t uid = geteuid();
    const gid_t gid = getegid();
    int pair[2], rc;
    uint64_t begun = laz_clock_us();

    if (template_is_alone(t->agent) && laz_os_threads() > 1)
        return laz_error_set(err, LAZ_ESETUP, 0, "the runtime %s has other threads",
                             t->agent->plugin->name);
    if (laz_os_message_pair(pair))
        return laz_error_os(err, errno, "cannot create a way to a session");
    laz_os_landlock_check_kept(&t->agent->kept);
    rc = laz_os_clone_apart(t->agent->has_network, &t->vessel, err);
    if (!rc && t->vessel == 0)
        return vessel_main(t, pair[1], uid, gid, begun);
    close(pair[1]);
    t->door = pair[0];
    if (rc)
        template_drop_vessel(t);
    return rc;
}

static void template_close_fds(struct template_fds *fds)
{
    while (fds->n)
        close(fds->items[--fds->n]);
}

/* Are the control groups of the next session known? */
static bool template_is_prepared(const struct template *t)
{
    return t->groups.n > 0 || !t->agent->has_groups;
}

/* A vessel may have died while it waited: then another is made. */
static int template_hand_over(struct template *t, const struct laz_message *spawn,
                              struct laz_error *err)
{
    struct template_order order = {.adds = spawn->adds};
    int rc = 0;

    if (t->cut)
        return laz_error_os(err, EMFILE, "the descriptors of a session did not arrive");
    if (t->received.n != TEMPLATE_FDS)
        return laz_error_set(err, LAZ_EPROTO, 0, "a spawn comes with %d descriptors, not with %zu",
                             TEMPLATE_FDS, t->received.n);
    if (!template_is_prepared(t))
        return laz_error_set(err, LAZ_EPROTO, 0, "no session was prepared");
    for (int try = 0;; try++) {
        if (!t->vessel)
            rc = template_make_vessel(t, err);
        if (rc)
            break;
        memcpy(order.token, spawn->token, sizeof order.token);
        order.sent_us = laz_clock_us();
        if (laz_os_hand_over(t->door, &order, sizeof order, t->received.items, t->received.n))
            break;
        template_drop_vessel(t);
        if (try > 0) {
            rc = laz_error_set(err, LAZ_ESETUP, 0, "a session ended before it began");
            break;
        }
    }
    laz_wipe(&order, sizeof order);
    return rc;
}

/* Answers a spawn: the process that was made, or why there is none. */
static void template_answer(struct template *t, int64_t id, const struct laz_error *failed)
{
    struct laz_buf value = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &value};
    struct laz_message answer = {.type = LAZ_MESSAGE_ANSWER, .has_id = true, .id = id};

    if (failed) {
        answer.error = failed->text;
        answer.error_len = strlen(failed->text);
    } else {
        laz_json_begin_object(&write, NULL);
        laz_json_add_int(&write, "pid", t->vessel);
        laz_json_end_object(&write);
        answer.value = laz_buf_text(&value);
        answer.value_len = value.len;
    }
    if (value.failed)
        _exit(AGENT_EXIT_SETUP); /* the host sees the end of the stream */
    agent_send(t->agent, &answer);
    laz_buf_fini(&value);
}

/* 1: this is the process of a session. `refused`: why the message is not valid, or NULL. */
static int template_spawn(struct template *t, const struct laz_message *spawn,
                          const struct laz_error *refused)
{
    struct laz_error err = refused ? *refused : (struct laz_error){0};
    int rc = refused ? refused->code : template_hand_over(t, spawn, &err);

    if (rc == 1)
        return 1;
    template_close_fds(&t->received);
    template_answer(t, spawn->id, rc ? &err : NULL);
    if (rc == 0) {
        template_drop_vessel(t);
        template_close_fds(&t->groups);
        t->spawned = true;
    }
    return 0;
}

/* The descriptors that came are the files of the groups in which the next session is born. */
static int template_prepare(struct template *t, struct laz_error *err)
{
    if (t->cut)
        return laz_error_os(err, EMFILE, "the descriptors of a control group did not arrive");
    if (!t->agent->has_groups || t->groups.n || !t->received.n)
        return laz_error_set(err, LAZ_EPROTO, 0, "message 'prepare' is not allowed now");
    t->groups = t->received;
    t->received.n = 0;
    return 0;
}

/* 0, 1: this is the process of a session, 2: the host wants it to end, or an error: a message that
 * no template takes. */
static int template_take(struct template *t, char *line, size_t len, struct laz_error *err)
{
    struct laz_message message;
    int rc = laz_message_parse_host(line, len, LAZ_WIRE_TEMPLATE, &message, err);

    if (message.type == LAZ_MESSAGE_SPAWN)
        rc = template_spawn(t, &message, rc ? err : NULL);
    else if (!rc && message.type == LAZ_MESSAGE_PREPARE)
        rc = template_prepare(t, err);
    else if (!rc) /* exit */
        rc = 2;
    if (rc != 1) /* a session has no such line any more */
        laz_wipe(line, len);
    laz_message_fini(&message);
    return rc;
}

/* The next bytes from the host, with descriptors. False: it is gone. */
static bool template_read(struct template *t)
{
    struct agent_channel *channel = &t->agent->channel;
    char *room = laz_frame_room(&channel->in, TEMPLATE_READ);
    int fds[LAZ_OS_HANDOVER];
    size_t n = 0;

    if (!room)
        return false;
    ssize_t got = laz_os_receive(channel->fd, room, TEMPLATE_READ, fds, &n);
    if (n) { /* earlier ones belong to no spawn */
        template_close_fds(&t->received);
        t->cut = n == LAZ_OS_CUT;
        n = t->cut ? 0 : n;
        memcpy(t->received.items, fds, n * sizeof *fds);
        t->received.n = n;
    }
    if (got <= 0)
        return false;
    laz_frame_added(&channel->in, (size_t)got);
    return true;
}

/* Making the next session takes a processor for a while, which the last one needs in its first
 * moments: waits a little. True when the host has sent something. */
static bool template_has_input(const struct template *t)
{
    return laz_os_await(t->agent->channel.fd, t->spawned ? TEMPLATE_REST_MS : 0);
}

static int template_loop(struct template *t, struct laz_error *err)
{
    struct laz_frame *in = &t->agent->channel.in;
    char *line;
    size_t len;

    for (;;) {
        int have = laz_frame_next(in, &line, &len);
        if (have < 0)
            return laz_error_set(err, LAZ_EPROTO, 0, "a line is too long");
        if (have > 0) {
            int rc = template_take(t, line, len, err);
            if (rc)
                return rc;
            continue;
        }
        /* Without a vessel a spawn makes one itself, and reports to the host if that fails. */
        if (!t->vessel && template_is_prepared(t) && !template_has_input(t) &&
            template_make_vessel(t, NULL) == 1)
            return 1;
        if (!template_read(t))
            return 2;
    }
}

/* Becomes a process with one thread. The first process stays until the second ends, because its
 * parent waits for it. */
static int template_leave_threads(struct agent *agent, struct laz_error *err)
{
    int how = 0;

    pid_t pid = fork();
    if (pid < 0)
        return laz_error_os(err, errno, "the template cannot leave its threads behind");
    if (pid == 0) {
        agent->pid = getpid();
        return 0;
    }
    close(agent->channel.fd);
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    _exit(WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how));
}

/* The threads of the runtime end by themselves. */
static int template_await_threads(const struct agent *agent, struct laz_error *err)
{
    const uint64_t latest = laz_clock_ms() + TEMPLATE_THREADS_MS;

    while (laz_os_threads() != 1) {
        if (laz_os_await(agent->channel.fd, TEMPLATE_LOOK_MS))
            return laz_error_set(err, LAZ_ECLOSED, 0, "the host does not wait for the template");
        if (laz_clock_ms() > latest)
            return laz_error_set(err, LAZ_ESETUP, 0,
                                 "the runtime %s has other threads, and is copied only without",
                                 agent->plugin->name);
    }
    return 0;
}

static int template_settle(struct agent *agent, struct laz_error *err)
{
    int rc = 0;

    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0)
        return laz_error_os(err, errno, "/dev/null cannot be opened");
    if (null != STDIN_FILENO)
        close(null);
    if (LAZ_HAS(agent->ops, before_fork))
        agent->ops->before_fork(agent->state);
    if (template_is_alone(agent))
        rc = template_await_threads(agent, err);
    else if (laz_os_threads() != 1)
        rc = template_leave_threads(agent, err);
    if (!rc) {
        laz_heap_keep(AGENT_KEPT);
        laz_os_large_pages();
        laz_os_core_find(&agent->core);
    }
    return rc;
}

int agent_template_load(struct agent *agent, const struct laz_wire_options *options,
                        struct laz_error *err)
{
    const struct laz_strv *names = &options->preload;
    int rc = 0;

    agent->home = laz_strdup(options->home);
    agent->tmp_size = options->tmp_size >= 1 ? (uint64_t)options->tmp_size : 0;
    agent->has_groups = options->has_groups;
    agent->has_network = options->has_network;
    if (!agent->home || !agent->tmp_size)
        return laz_error_set(err, LAZ_EPROTO, 0, "init: a template has a home and a tmp_size");
    agent->lacks_package = names->n > 0; /* until they are loaded */
    if (names->n && !LAZ_HAS(agent->ops, preload))
        return laz_error_set(err, LAZ_ESETUP, 0,
                             "pool.preload: the runtime %s can load nothing in advance; a package "
                             "of another language is named as LANGUAGE:PACKAGE",
                             agent->plugin->name);
    if (names->n)
        rc = agent->ops->preload(agent->state, (const char *const *)names->items, names->n, err);
    rc = laz_plugin_said(rc, LAZ_PLUGIN_RUNTIME, agent->plugin->name, "preload", err);
    agent->lacks_package = rc != 0;
    if (!rc)
        rc = template_settle(agent, err);
    const struct laz_own_mounts mounts = vessel_mounts(agent);
    return rc ? rc : agent_confine_ahead(agent, &mounts, err);
}

bool agent_template_serve(struct agent *agent, int *status)
{
    struct template t = {.agent = agent, .door = -1};
    struct laz_error err = {0};

    signal(SIGCHLD, SIG_IGN); /* vessels leave no zombies: sigaction(2), SA_NOCLDWAIT */
    int rc = template_loop(&t, &err);
    if (rc == 1)
        return true;
    if (rc < 0)
        fprintf(stderr, "lazaret-agent: refused a message of the host: %s\n", err.text);
    template_drop_vessel(&t);
    template_close_fds(&t.received);
    template_close_fds(&t.groups);
    *status = rc < 0 ? AGENT_EXIT_SETUP : 0;
    return false;
}

/* The first steps of a session, with the capabilities that its namespaces gave it; it has none
 * afterwards. */
int agent_template_strip(struct agent *agent, struct laz_error *err)
{
    uint64_t begun = laz_clock_us();

    laz_os_own_cgroup_root();
    int rc = laz_os_drop_capabilities(err);
    laz_os_set_open(true); /* the host inspects it like any agent */
    agent_cost(agent, "capabilities", begun);
    return rc;
}
