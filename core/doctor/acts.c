/* SPDX-License-Identifier: MIT */
/* acts.c - the table of acts, and how one is tried and judged.
 * Side: host.  Input trusted: no (answers come from inside the box; the runtime "doctor" writes
 * them, and their size is bounded).
 *
 * Where an act leaves a trace on the host, that trace decides whether it worked: a file that was
 * written, a process that ended, a secret that came back. Only without such a trace is the answer
 * believed, and a wrong answer can only make a box look worse. */
#include "doctor/doctor_private.h"

#include "base/json.h"
#include "base/limits.h"
#include "os/process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define VICTIM_MS 10000 /* until a signalled process has ended, on a busy machine too */

#define BAIT(member) offsetof(struct doctor_bait, member)
#define CALL(call)                                                                                 \
    {                                                                                              \
        LAZ_ENFORCE_SYSCALLS, call, "call", .text = call                                           \
    }
/* In a session with the doctor's network list. */
#define LISTED(name, act, to, list_, ...)                                                          \
    {                                                                                              \
        LAZ_ENFORCE_NETWORK, name, act, .text = to, .list = list_, __VA_ARGS__                     \
    }

/* The acts of a bit that is kept for the session as a whole are shared among processes of which
 * none exceeds the limit alone. */
const struct doctor_act doctor_acts[DOCTOR_ACTS] = {
    {LAZ_ENFORCE_FS_READ, "read a file in the home", "read", .path = BAIT(home)},
    {LAZ_ENFORCE_FS_READ, "read a file that everybody may read", "read", .path = BAIT(canary)},
    {LAZ_ENFORCE_FS_WRITE, "write into the home", "write", .path = BAIT(home_new)},
    {LAZ_ENFORCE_FS_WRITE, "write where everybody may write", "write", .path = BAIT(fresh)},
    {LAZ_ENFORCE_NETWORK, "connect to a port of the host", "port", .port = BAIT(port)},
    {LAZ_ENFORCE_NETWORK, "connect to an abstract socket", "socket", .path = BAIT(abstract)},
    {LAZ_ENFORCE_NETWORK, "connect to a socket by its path", "socket", .path = BAIT(socket)},
    LISTED("reach a listed name", "reach", DOCTOR_LISTED, DOCTOR_REACHES, .port = BAIT(port)),
    LISTED("reach a name that is not listed", "reach", "other.doctor.test", DOCTOR_IN_LIST_ONLY,
           .port = BAIT(port), .told = "name"),
    LISTED("reach a listed name on another port", "reach", DOCTOR_LISTED, DOCTOR_IN_LIST_ONLY,
           .port = BAIT(other), .told = "port"),
    LISTED("reach the address of a listed name", "reach", "127.0.0.1", DOCTOR_IN_LIST,
           .port = BAIT(port), .told = "address"),
    LISTED("reach another address on a listed port", "reach", "192.0.2.1", DOCTOR_IN_LIST_ONLY,
           .port = BAIT(port), .told = "address"),
    LISTED("reach an address of IPv6", "reach", "2001:db8::1", DOCTOR_IN_LIST_ONLY,
           .port = BAIT(port), .told = "address"),
    LISTED("send UDP to a listed name", "ask", DOCTOR_LISTED, DOCTOR_IN_LIST_ONLY,
           .port = BAIT(port), .told = "protocol"),
    LISTED("ask another server of DNS", "ask", "8.8.8.8", DOCTOR_IN_LIST_ONLY, .number = 53),
    LISTED("ask by HTTP for another host", "reach", DOCTOR_WEB, DOCTOR_IN_LIST_ONLY,
           .port = BAIT(port), .host = "other.doctor.test", .told = "host"),
    LISTED("speak HTTP where TLS is listed", "reach", DOCTOR_TLS, DOCTOR_IN_LIST_ONLY,
           .port = BAIT(port), .host = DOCTOR_TLS, .told = "protocol"),
    LISTED("reach an abstract socket", "socket", NULL, DOCTOR_IN_LIST, .path = BAIT(abstract)),
    LISTED("reach a socket by its path", "socket", NULL, DOCTOR_IN_LIST, .path = BAIT(socket)),
    LISTED("make a raw socket", "call", "socket raw", DOCTOR_IN_LIST),
    LISTED("make a netlink socket", "call", "socket netlink", DOCTOR_IN_LIST),
    LISTED("make another network namespace", "call", "unshare network", DOCTOR_IN_LIST),
    {LAZ_ENFORCE_PROCESSES, "see a process of the host", .act = "see"},
    {LAZ_ENFORCE_SIGNALS, "signal a process of the host", .act = "signal"},
    {LAZ_ENFORCE_TERMINALS, "open a pseudo-terminal", .act = "terminal",
     .part = DOCTOR_IF_NOT_WEAK},
    CALL("ptrace"),
    CALL("process_vm_readv"),
    CALL("unshare"),
    CALL("mount"),
    CALL("chroot"),
    CALL("keyctl"),
    CALL("add_key"),
    CALL("socket inet"),
    CALL("socket netlink"),
    CALL("perf_event_open"),
    CALL("bpf"),
    CALL("userfaultfd"),
    CALL("io_uring_setup"),
    CALL("io_setup"),
    CALL("inotify_init1"),
    CALL("fanotify_init"),
    CALL("shmget"),
    CALL("fcntl F_SETPIPE_SZ"),
    CALL("setsockopt SO_SNDBUF"),
    CALL("setxattr"),
    {LAZ_ENFORCE_FSIZE, "write 2 MiB, limit 1", "file", .text = "lazaret-doctor-file",
     .number = 2 << 20, .limit = "1MiB"},
    {LAZ_ENFORCE_NOFILE, "open 80 files, limit 48", "files", .number = 80, .limit = "48"},
    {LAZ_ENFORCE_NPROC, "run 40 processes, limit 16", "processes", .number = 40, .limit = "16"},
    {LAZ_ENFORCE_MEMORY, "use 96 MiB in four processes, limit 64", "memory", .number = 96 << 20,
     .among = 4, .part = DOCTOR_IF_FULL, .limit = "64MiB"},
    {LAZ_ENFORCE_MEMORY, "use 96 MiB in one process, limit 64", "memory", .number = 96 << 20,
     .part = DOCTOR_IF_NOT_FULL, .limit = "64MiB"},
    {LAZ_ENFORCE_CPU, "compute 1.4 s in two processes, limit 1", "burn", .number = 1400, .among = 2,
     .part = DOCTOR_IF_FULL, .limit = "1"},
    {LAZ_ENFORCE_CPU, "compute 1.4 s in one process, limit 1", "burn", .number = 1400,
     .part = DOCTOR_IF_NOT_FULL, .limit = "1"},
};

const char *doctor_small_limit(uint32_t bit)
{
    for (size_t i = 0; i < DOCTOR_ACTS && bit; i++)
        if (doctor_acts[i].bit == bit)
            return doctor_acts[i].limit;
    return NULL;
}

static bool act_is(const struct doctor_act *act, const char *word)
{
    return strcmp(act->act, word) == 0;
}

/* What the act reads, writes or connects to; NULL: it has no path, or there is nothing. */
static const char *act_path(const struct doctor_act *act, const struct doctor_bait *bait)
{
    const char *path = NULL;

    if (act->path)
        memcpy(&path, (const char *)bait + act->path, sizeof path);
    return path;
}

/* Writes the act as code of the runtime "doctor"; false when it has no target. */
static bool act_code(const struct doctor_act *act, const struct doctor_bait *bait,
                     const struct doctor_session *session, struct laz_buf *code)
{
    int64_t number = act_is(act, "signal") ? session->victim.pid : act->number;
    uint16_t port = 0;
    const char *path = act_is(act, "file") ? act->text : act_path(act, bait);
    struct laz_json_write write = {.to = code};

    if (act->path && !path)
        return false;
    if (act->port) {
        memcpy(&port, (const char *)bait + act->port, sizeof port);
        number = port;
    }
    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "act", act->act);
    if (path)
        laz_json_add_text(&write, "path", path);
    if (act_is(act, "write") || act_is(act, "see"))
        laz_json_add_text(&write, "text", bait->secret);
    else if (act->text)
        laz_json_add_text(&write, "text", act->text);
    if (act->host)
        laz_json_add_text(&write, "host", act->host);
    laz_json_add_int(&write, "number", number);
    laz_json_add_int(&write, "among", act->among);
    laz_json_end_object(&write);
    return !code->failed;
}

static void act_note(struct doctor_try *tried, enum doctor_came came, const char *note)
{
    tried->came = came;
    tried->is_untold = false;
    snprintf(tried->note, sizeof tried->note, "%.*s", (int)sizeof tried->note - 1,
             note ? note : "");
}

/* Judges an act that ran to its end, by its answer. */
static void act_judge(struct doctor_session *session, const struct doctor_bait *bait,
                      const struct doctor_act *act, const char *value, struct doctor_try *tried)
{
    struct laz_json *json = laz_json_parse(value, strlen(value), NULL);
    const struct laz_json *member = laz_json_get(json, "failed");
    const char *text = laz_json_string(laz_json_get(json, "text"));
    int failed = member ? (int)laz_json_number(member) : EINVAL;
    bool worked = failed == 0;

    if (act_is(act, "read") || act->list == DOCTOR_REACHES)
        worked = worked && text && strcmp(text, bait->secret) == 0;
    else if (act_is(act, "reach"))
        worked = worked || bait->answered;
    else if (act_is(act, "signal"))
        worked = worked && laz_process_wait(&session->victim, VICTIM_MS, NULL);
    else if (act_is(act, "write"))
        worked = doctor_bait_take(act_path(act, bait));
    act_note(tried, worked ? DOCTOR_WORKED : DOCTOR_DENIED,
             worked   ? NULL
             : failed ? strerror(failed)
                      : "it reached something other than the target");
    laz_json_free(json);
}

/* Has the result the denial that the act gets where a list is kept? */
static bool act_is_told(const struct doctor_act *act, const struct laz_result *result)
{
    bool told = !act->told;

    for (size_t i = 0; i < laz_result_denials(result) && !told; i++) {
        const char *denial = laz_result_denial(result, i);
        struct laz_json *json = laz_json_parse(denial, strlen(denial), NULL);
        const char *what = laz_json_string(laz_json_get(json, "what"));

        told = what && strcmp(what, act->told) == 0;
        laz_json_free(json);
    }
    return told;
}

/* Judges an act that was ended: the limit that the act is about has denied it. */
static void act_judge_end(const struct doctor_act *act, struct laz_result *result,
                          struct doctor_try *tried)
{
    const struct laz_limit *limit = laz_limit_of_bit(act->bit);
    enum laz_verdict verdict = laz_result_verdict(result);
    const char *why = laz_result_error(result);

    if (limit && limit->verdict == verdict)
        act_note(tried, DOCTOR_DENIED, laz_verdict_name(verdict));
    else if (verdict == LAZ_VERDICT_TIMEOUT || verdict == LAZ_VERDICT_DEADLINE)
        act_note(tried, DOCTOR_TIMED_OUT, laz_verdict_name(verdict));
    else
        act_note(tried, DOCTOR_FAILED, why && *why ? why : laz_verdict_name(verdict));
}

int doctor_act_try(struct laz_doctor *doctor, struct doctor_session *session,
                   const struct doctor_act *act, struct doctor_try *tried, struct laz_error *err)
{
    const struct laz_execute_options options = {.size = sizeof options, .no_validate = 1};
    struct laz_buf code = LAZ_BUF_INIT;
    struct laz_result *result = NULL;
    struct doctor_watch watch = {{NULL}};
    int rc = 0;

    act_note(tried, doctor_is_late(doctor) ? DOCTOR_LATE : DOCTOR_UNTRIED, "");
    if (tried->came == DOCTOR_LATE || !act_code(act, &doctor->bait, session, &code))
        goto out;
    if (act->list != DOCTOR_NO_LIST) {
        doctor_bait_answer(&doctor->bait); /* what is left of other acts */
        doctor->bait.answered = 0;
        rc = doctor_bait_watch(&doctor->bait, session->engine->driver.loop, &watch, err);
    }
    if (!rc)
        rc = laz_session_execute(session->session, laz_buf_text(&code), code.len, &options, &result,
                                 err);
    if (act->list != DOCTOR_NO_LIST) {
        doctor_bait_answer(&doctor->bait);
        doctor_bait_unwatch(&watch);
    }
    if (!rc && laz_result_verdict(result) == LAZ_VERDICT_CANCELLED)
        rc = laz_error_set(err, LAZ_ECANCELLED, 0, "cancelled");
    rc = doctor_ended(doctor, rc, err);
    if (rc == LAZ_ETIMEOUT) {
        act_note(tried, DOCTOR_LATE, "");
    } else if (rc) {
        act_note(tried, err->os_errno == ETIMEDOUT ? DOCTOR_TIMED_OUT : DOCTOR_FAILED, err->text);
    } else if (laz_result_verdict(result) == LAZ_VERDICT_OK) {
        act_judge(session, &doctor->bait, act, laz_result_value(result), tried);
        tried->is_untold = tried->came == DOCTOR_DENIED && !act_is_told(act, result);
    } else {
        act_judge_end(act, result, tried);
    }
    rc = rc == LAZ_ECANCELLED ? rc : 0;
out:
    laz_result_free(result);
    laz_buf_fini(&code);
    return rc;
}
