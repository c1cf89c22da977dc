/* SPDX-License-Identifier: MIT */
/* backend.c - one backend: tries everything in a session with the configured settings,
 * exceeds the limits of a session with small ones, and starts each runtime once.
 *
 * The state of a bit is never better than its plan says, and never better than what was tried: a
 * promise is broken when an act succeeds in spite of it, and not proven when its acts succeed
 * nowhere. */
#include "doctor/doctor_private.h"

#include "base/enforce.h"
#include "base/json.h"
#include "base/limits.h"
#include "os/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *doctor_state_name(enum doctor_state state)
{
    static const char *const names[] = {
        [DOCTOR_OPEN] = "not in force",     [DOCTOR_IN_FORCE] = "in force",
        [DOCTOR_WEAK] = "weakly in force",  [DOCTOR_UNPROMISED] = "not promised",
        [DOCTOR_UNSET] = "not set",         [DOCTOR_UNPROVEN] = "not proven",
        [DOCTOR_BROKEN] = "broken promise",
    };

    return names[state];
}

/* ---- what the plan says --------------------------------------------------------------------- */

/* The value of the limit that the bit is about; 0 for other bits. */
static uint64_t backend_limit(const struct laz_doctor *doctor, uint32_t bit)
{
    const struct laz_limit *limit = laz_limit_of_bit(bit);

    return limit ? laz_limit_value(&doctor->values->limits, limit) : 0;
}

static bool backend_has_word(const struct laz_json *list, const char *word)
{
    for (const struct laz_json *item = laz_json_first(list); item; item = laz_json_next(item))
        if (laz_json_string(item) && strcmp(laz_json_string(item), word) == 0)
            return true;
    return false;
}

/* Reads the isolation that a session reports: {"enforces":[...],"mechanisms":{...}}. */
static void backend_read_plan(struct doctor_backend *backend, const char *isolation)
{
    struct laz_json *json = isolation ? laz_json_parse(isolation, strlen(isolation), NULL) : NULL;
    const struct laz_json *enforces = laz_json_get(json, "enforces");
    const struct laz_json *mechanisms = laz_json_get(json, "mechanisms");
    const char *name;

    for (unsigned i = 0; (name = laz_enforce_name(1u << i)); i++) {
        struct doctor_bit *bit = &backend->bits[i];
        const char *word = laz_json_string(laz_json_get(mechanisms, name));

        *bit = (struct doctor_bit){.full = backend_has_word(enforces, name)};
        bit->weak = word && !bit->full;
        snprintf(bit->mechanism, sizeof bit->mechanism, "%.*s", (int)sizeof bit->mechanism - 1,
                 word ? word : "");
    }
    laz_json_free(json);
}

/* ---- trying --------------------------------------------------------------------------------- */

const struct doctor_bit *doctor_bit(const struct doctor_backend *backend, uint32_t bit)
{
    for (unsigned i = 0; i < DOCTOR_BITS; i++)
        if (bit == 1u << i)
            return &backend->bits[i];
    return NULL;
}

static bool backend_wants(const struct laz_doctor *doctor, const struct doctor_backend *backend,
                          const struct doctor_act *act)
{
    const struct doctor_bit *bit = doctor_bit(backend, act->bit);
    const bool wants[] = {
        [DOCTOR_ALWAYS] = true,
        [DOCTOR_IF_FULL] = bit->full,
        [DOCTOR_IF_NOT_FULL] = !bit->full,
        [DOCTOR_IF_NOT_WEAK] = !bit->weak,
    };

    return wants[act->part] && backend_limit(doctor, act->bit) != LAZ_UNLIMITED;
}

struct backend_control {
    struct laz_doctor *doctor;
    const struct doctor_act *act;
    struct doctor_try *tried;
    int rc;
    struct laz_error err;
};

static void *backend_control(void *arg)
{
    struct backend_control *control = arg;

    control->rc = doctor_act_try(control->doctor, &control->doctor->control, control->act,
                                 control->tried, &control->err);
    return NULL;
}

/* Tries one act in the session, and in the control unless that has been done. Acts that exceed
 * limits take long and share nothing, so they run in both at the same time. */
static int backend_act(struct laz_doctor *doctor, struct doctor_session *session,
                       const struct doctor_act *act, struct doctor_try *outside,
                       struct doctor_try *inside, struct laz_error *err)
{
    struct backend_control control = {.doctor = doctor, .act = act, .tried = outside};
    pthread_t thread;
    bool wanted = outside->came == DOCTOR_UNTRIED && act->list != DOCTOR_IN_LIST_ONLY &&
                  act->list != DOCTOR_REACHES;
    bool apart = wanted && laz_limit_of_bit(act->bit) &&
                 !pthread_create(&thread, NULL, backend_control, &control);

    if (wanted && !apart)
        backend_control(&control);
    int rc = !apart && control.rc ? 0 : doctor_act_try(doctor, session, act, inside, err);
    if (apart)
        pthread_join(thread, NULL);
    if (control.rc) {
        *err = control.err;
        rc = control.rc;
    }
    return rc;
}

int doctor_acts_try(struct laz_doctor *doctor, struct doctor_backend *backend,
                    struct doctor_session *session, bool limits, bool list, struct laz_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < DOCTOR_ACTS && doctor_acts[i].bit && !rc; i++) {
        const struct doctor_act *act = &doctor_acts[i];

        if (limits != (laz_limit_of_bit(act->bit) != NULL) ||
            list != (act->list != DOCTOR_NO_LIST) || !backend_wants(doctor, backend, act))
            continue;
        doctor->options.progress(doctor->options.user, backend->name, act->name);
        rc = backend_act(doctor, session, act, &doctor->outside[i], &backend->inside[i], err);
    }
    return rc;
}

static int backend_small_limits(struct laz_doctor *doctor, struct doctor_backend *backend,
                                struct laz_error *err)
{
    const char *pairs[2 * LAZ_N_LIMITS + 3] = {"sandbox.backend", backend->name};
    struct doctor_session session;
    size_t n = 2;

    for (size_t i = 0; i < LAZ_N_LIMITS; i++) {
        const struct laz_limit *limit = &laz_limit_table[i];
        const char *small = doctor_small_limit(limit->bit);
        if (!small || backend_limit(doctor, limit->bit) == LAZ_UNLIMITED)
            continue;
        pairs[n++] = limit->key;
        pairs[n++] = small;
    }
    int rc = doctor_session_open(doctor, pairs, &doctor_acting, &session, err);
    if (!rc || rc == LAZ_ETIMEOUT) /* then each act is noted as late */
        rc = doctor_acts_try(doctor, backend, &session, true, false, err);
    doctor_session_close(&session);
    return rc;
}

/* What is tried in a runtime whose language declares nothing. */
static const struct laz_language_probe backend_probe = {
    .code = "1+1",
    .value = "2",
    .call = "lazaret_doctor_add(20, 22)",
    .answer = "42",
};

/* Evaluates one expression and calls one tool. NULL, or a new string that says why it does not
 * work. */
static char *backend_runtime(struct laz_doctor *doctor, struct laz_engine *engine, const char *name,
                             struct laz_error *err)
{
    const struct laz_language *language = NULL;
    laz_registry_language(doctor->registry, name, &language, NULL);
    const struct laz_language_probe *probe =
        language && language->probe.code ? &language->probe : &backend_probe;
    const struct {
        const char *code, *value, *what;
    } rows[] = {
        {probe->code, probe->value, probe->code},
        {probe->call, probe->answer, "the call of a tool"},
    };
    const struct laz_session_options options = {.size = sizeof options, .runtime = name};
    struct laz_session *session = NULL;
    char *problem = NULL;

    if (doctor_may_begin(doctor, err) || laz_session_open(engine, &options, &session, err))
        return doctor_problem(err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !problem && !err->code; i++) {
        struct laz_result *result = NULL;
        if (!rows[i].code)
            continue;
        if (laz_session_execute(session, rows[i].code, SIZE_MAX, NULL, &result, err)) {
            problem = laz_strdup(err->text);
        } else if (laz_result_verdict(result) == LAZ_VERDICT_CANCELLED) {
            laz_error_set(err, LAZ_ECANCELLED, 0, "cancelled");
        } else if (laz_result_verdict(result) != LAZ_VERDICT_OK ||
                   strcmp(laz_result_value(result), rows[i].value) != 0) {
            const char *why = laz_result_verdict(result) == LAZ_VERDICT_TIMEOUT ||
                                      laz_result_verdict(result) == LAZ_VERDICT_DEADLINE
                                  ? DOCTOR_MORE_TIME
                                  : laz_result_error(result);
            problem = laz_strdupf("%s: %s", rows[i].what, why ? why : laz_result_value(result));
        }
        laz_result_free(result);
    }
    laz_session_free(session);
    return problem;
}

static void backend_add(void *user, const char *args, size_t args_len, struct laz_reply *reply)
{
    const char *raw;
    size_t len;
    int64_t a = 0, b = 0;
    char text[32];

    (void)user;
    if (laz_json_member(args, args_len, "a", &raw, &len))
        laz_json_to_int(raw, len, &a);
    if (laz_json_member(args, args_len, "b", &raw, &len))
        laz_json_to_int(raw, len, &b);
    snprintf(text, sizeof text, "%lld", (long long)(a + b));
    laz_reply_value(reply, text, strlen(text));
}

static int backend_runtimes(struct laz_doctor *doctor, struct doctor_backend *backend,
                            struct laz_engine *engine, struct laz_error *err)
{
    static const struct laz_tool add = {
        .size = sizeof add,
        .name = "lazaret_doctor_add",
        .description = "the sum of two numbers",
        .parameters =
            "[{\"name\":\"a\",\"type\":\"integer\"},{\"name\":\"b\",\"type\":\"integer\"}]",
    };

    backend->runtimes = calloc(doctor->runtimes.n + 1, sizeof *backend->runtimes);
    if (!backend->runtimes)
        return laz_error_nomem(err);
    int rc = laz_engine_add_tool(engine, &add, backend_add, NULL, err);
    for (size_t i = 0; i < doctor->runtimes.n && !rc; i++) {
        const char *name = doctor->runtimes.items[i];
        struct laz_error why = {0};

        doctor->options.progress(doctor->options.user, backend->name, name);
        backend->runtimes[i] = backend_runtime(doctor, engine, name, &why);
        backend->n_runtimes = i + 1;
        int ended = doctor_ended(doctor, why.code, &why);
        if (ended == LAZ_ECANCELLED) {
            *err = why;
            rc = ended;
        } else if (ended == LAZ_ETIMEOUT) {
            free(backend->runtimes[i]);
            backend->runtimes[i] = laz_strdup(why.text);
        }
    }
    return rc;
}

/* ---- findings ------------------------------------------------------------------------------- */

/* How often the acts of a bit came out in which way. */
struct backend_count {
    unsigned tried, worked, denied, failed, unable, late; /* `unable`: in the control, too */
};

static bool backend_is_late(enum doctor_came came)
{
    return came == DOCTOR_LATE || came == DOCTOR_TIMED_OUT;
}

static struct backend_count backend_count(const struct laz_doctor *doctor,
                                          const struct doctor_backend *backend, uint32_t bit)
{
    struct backend_count n = {0};

    for (size_t i = 0; i < DOCTOR_ACTS; i++) {
        const enum doctor_came inside = backend->inside[i].came, outside = doctor->outside[i].came;
        const enum doctor_list list = doctor_acts[i].list;
        if (doctor_acts[i].bit != bit || inside == DOCTOR_UNTRIED || list == DOCTOR_REACHES)
            continue;
        n.tried++;
        n.worked += inside == DOCTOR_WORKED; /* needs no control */
        n.failed += inside == DOCTOR_FAILED;
        n.unable += inside == DOCTOR_FAILED || outside == DOCTOR_FAILED;
        n.denied += inside == DOCTOR_DENIED &&
                    (list == DOCTOR_IN_LIST_ONLY ? doctor_network_reaches(backend)
                                                 : outside == DOCTOR_WORKED);
        n.late += backend_is_late(inside) || backend_is_late(outside);
    }
    return n;
}

enum doctor_state doctor_state_of(const struct laz_doctor *doctor,
                                  const struct doctor_backend *backend, uint32_t bit)
{
    const struct doctor_bit *promise = doctor_bit(backend, bit);
    const struct backend_count n = backend_count(doctor, backend, bit);

    if (backend_limit(doctor, bit) == LAZ_UNLIMITED)
        return DOCTOR_UNSET;
    if (!doctor->acts_are_tried || !backend->isolates)
        return promise->full || promise->weak ? DOCTOR_UNPROVEN : DOCTOR_OPEN;
    if (n.worked)
        return promise->full || promise->weak ? DOCTOR_BROKEN : DOCTOR_OPEN;
    if (promise->weak && !n.tried)
        return DOCTOR_WEAK; /* the plan itself says that nothing refuses it */
    if (n.failed || n.late || !n.denied)
        return DOCTOR_UNPROVEN;
    return promise->full ? DOCTOR_IN_FORCE : promise->weak ? DOCTOR_WEAK : DOCTOR_UNPROMISED;
}

const char *doctor_remedy_of(const struct laz_doctor *doctor, const struct doctor_backend *backend,
                             uint32_t bit, enum doctor_state state)
{
    static const char *const others[] = {
        [DOCTOR_IN_FORCE] = NULL,
        [DOCTOR_UNSET] = "set the limit (limits.*)",
        [DOCTOR_UNPROVEN] =
            "this system refuses the act outside of the box as well, so its refusal "
            "inside proves nothing: run lazaret doctor on a system that allows it",
        [DOCTOR_BROKEN] = "do not rely on this backend here, and report it (SECURITY.md)",
    };
    const struct laz_limit *limit = laz_limit_of_bit(bit);

    if (!doctor->acts_are_tried && state == DOCTOR_OPEN)
        return "no backend keeps it on this system: run lazaret in a container, in a virtual "
               "machine or in WSL";
    if (!doctor->acts_are_tried && state == DOCTOR_UNPROVEN)
        return "it was set and read back from the system; doctor does not try it on this system";
    if (state == DOCTOR_UNPROVEN && !backend->isolates)
        return "nothing is tried in a backend that declares that it is not a sandbox: use another "
               "one";
    if (state == DOCTOR_UNPROVEN && backend_count(doctor, backend, bit).late)
        return DOCTOR_MORE_TIME;
    if (state == DOCTOR_UNPROVEN && backend_count(doctor, backend, bit).unable)
        return "it could not be tried: the line above says why, and nothing is known of it";
    if (state != DOCTOR_OPEN && state != DOCTOR_UNPROMISED && state != DOCTOR_WEAK)
        return others[state];
    const char *advice =
        laz_registry_advice(doctor->registry, laz_os_platform(), laz_enforce_name(bit));
    if (advice)
        return advice;
    if (limit && !(limit->kept_by & LAZ_LIMIT_BY_GROUP))
        return "use a backend that isolates";
    if (limit && state == DOCTOR_WEAK)
        return "let the kernel count the session as a whole, in place of a watchdog that samples "
               "it: give it a control group; start lazaret as root, or as a user to whom one is "
               "delegated (systemd-run --user --scope -p Delegate=yes)";
    if (limit)
        return "use a backend that isolates, on a system with control groups";
    if (bit == LAZ_ENFORCE_SYSCALLS)
        return "use a build of lazaret with libseccomp, a kernel with seccomp filters, and a "
               "backend that confines the agent";
    return "use a backend that keeps it (sandbox.backend = \"auto\"; lazaret plugins NAME says "
           "what one can enforce)";
}

/* Where no act is tried, it reads what a session reports of its box, and tries each runtime; in a
 * backend that is not a sandbox only if the settings name it. */
static int backend_try(struct laz_doctor *doctor, struct doctor_backend *backend,
                       struct laz_error *err)
{
    const char *const pairs[] = {"sandbox.backend", backend->name, NULL};
    const bool wanted = backend->isolates || backend < doctor->backends + doctor->n_wanted;
    const bool has_runtime = doctor->runtimes.n, acts = doctor->acts_are_tried && backend->isolates;
    const struct laz_session_options first = {
        .size = sizeof first, .runtime = has_runtime ? doctor->runtimes.items[0] : NULL};
    const struct laz_session_options *options = doctor->acts_are_tried ? &doctor_acting
                                                : has_runtime          ? &first
                                                                       : NULL;
    struct doctor_session session;
    int rc = doctor_session_open(doctor, pairs, options, &session, err);

    if (!rc && session.session)
        backend_read_plan(backend, laz_session_isolation(session.session));
    if (!rc && acts)
        rc = doctor_session_victim(&session, false, doctor->bait.secret, err);
    if (!rc && acts)
        rc = doctor_acts_try(doctor, backend, &session, false, false, err);
    if (!rc && doctor->acts_are_tried && wanted)
        rc = doctor_network_try(doctor, backend, err);
    if (!rc && wanted)
        rc = backend_runtimes(doctor, backend, session.engine, err);
    doctor_session_close(&session);
    return rc || !acts ? rc : backend_small_limits(doctor, backend, err);
}

int doctor_backend_try(struct laz_doctor *doctor, struct doctor_backend *backend,
                       struct laz_error *err)
{
    doctor->options.progress(doctor->options.user, backend->name, "a box");
    int rc = backend_try(doctor, backend, err);
    if (rc && rc != LAZ_ECANCELLED) {
        backend->problem = doctor_problem(err);
        return 0;
    }
    for (unsigned i = 0; laz_enforce_name(1u << i) && !rc; i++) {
        backend->bits[i].state = doctor_state_of(doctor, backend, 1u << i);
        backend->bits[i].remedy =
            doctor_remedy_of(doctor, backend, 1u << i, backend->bits[i].state);
    }
    return rc;
}
