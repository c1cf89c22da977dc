/* SPDX-License-Identifier: MIT */
/* template.c - the life of templates: when one is started, trusted, replaced and ended.
 * Side: host.  Input trusted: no (messages of the template; its process runs no untrusted code, and
 * is checked as if it did).
 *
 * Whether sessions can be created inside of a box is tried once an engine: the first template makes
 * a session that is used for nothing else.  Until it has come other sessions wait, and where it
 * does not come they are started cold.  Once sessions have come from a template it is only a
 * process like others: one that is lost takes its sessions with it and is replaced when the next is
 * asked for, later each time that no session came of it.
 *
 * Reports of boxes only note what has happened.  Boxes are released, and waiting sessions served,
 * in a turn of the loop of its own (templates_tidy), so that no report frees what it came from. */
#include "box/templates.h"

#include "base/clock.h"
#include "base/fsm.h"
#include "base/random.h"
#include "base/visible.h"
#include "box/box_private.h"
#include "box/protection.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEMPLATE_SETTLES_MS 75000u /* the agent gives its threads a minute */
#define TEMPLATE_LINE       1024   /* bytes, more than a message to a template has but for `init` */

/* ---- states --------------------------------------------------------------------------------- */

enum template_event {
    TEMPLATE_TRY,   /* it is up, and has to make the trial's session */
    TEMPLATE_SERVE, /* sessions can come from it */
    TEMPLATE_LOSE,  /* it is no good any more */
    TEMPLATE_EVENTS,
};

static const char *const template_state_names[] = {"starting", "tried", "ready", "lost"};
static const char *const template_event_names[] = {"try", "serve", "lose"};

#define ON(event, state) [TEMPLATE_##event] = LAZ_FSM_TO(TEMPLATE_##state)

static const unsigned char template_table[TEMPLATE_STATES][TEMPLATE_EVENTS] = {
    [TEMPLATE_STARTING] = {ON(TRY, TRIED), ON(SERVE, READY), ON(LOSE, LOST)},
    [TEMPLATE_TRIED] = {ON(SERVE, READY), ON(LOSE, LOST)},
    [TEMPLATE_READY] = {ON(LOSE, LOST)},
};

static const struct laz_fsm template_fsm = {
    .what = "template of",
    .states = template_state_names,
    .events = template_event_names,
    .n_states = TEMPLATE_STATES,
    .n_events = TEMPLATE_EVENTS,
    .table = &template_table[0][0],
};

static void template_step(struct laz_template *t, enum template_event event)
{
    unsigned state = t->state;

    laz_fsm_step(&template_fsm, &state, event, &t->shared->driver->log, t->kind->runtime->name);
    t->state = (enum template_state)state;
    if (event == TEMPLATE_SERVE)
        laz_metrics_begin_life(&t->life, t->kind->runtime->name);
    else if (event == TEMPLATE_LOSE)
        laz_metrics_end_life(&t->life);
}

static void template_detach(struct laz_template *t)
{
    if (t->kind->current == t)
        t->kind->current = NULL;
    if (t->kind->successor == t)
        t->kind->successor = NULL;
}

void laz_template_lose(struct laz_template *t, int code, const char *why)
{
    bool unproven = t->state == TEMPLATE_TRIED, expected = t->shared->templates->ending;
    bool faded = t->fades && !t->boxes;
    bool own = code == LAZ_EOS || code == LAZ_ENOMEM; /* this side lacked something */

    if (t->state == TEMPLATE_LOST)
        return;
    template_step(t, TEMPLATE_LOSE);
    template_detach(t);
    laz_timer_cancel(t->timer);
    if (t->box)
        laz_box_kill(t->box);
    if (unproven && !own)
        laz_templates_refuse(t->shared, why);
    else if (!expected && !faded)
        laz_templates_failed(t->shared, t->kind, code, why);
    laz_templates_stir(t->shared);
}

/* Its outermost process has ended, and the box can say how. */
static void template_lost_process(struct laz_template *t)
{
    struct laz_buf text = LAZ_BUF_INIT, line = LAZ_BUF_INIT;

    laz_box_explain(t->box, false, &text);
    laz_visible_line(&line, laz_buf_text(&text), text.len);
    laz_template_lose(t, LAZ_ESETUP, laz_buf_text(&line));
    laz_buf_fini(&text);
    laz_buf_fini(&line);
}

void laz_template_distrust(struct laz_template *t, const char *why)
{
    char text[400];

    snprintf(text, sizeof text, "a process of it broke the protocol: %.300s", why);
    laz_template_lose(t, LAZ_EPROTO, text);
}

void laz_template_fade(struct laz_template *t)
{
    laz_log(&t->shared->driver->log, LAZ_LOG_DEBUG, "template of %s fades", t->kind->runtime->name);
    template_detach(t);
    t->fades = true;
    if (!t->boxes)
        laz_templates_stir(t->shared);
}

/* ---- spawns --------------------------------------------------------------------------------- */

/* Sends a message with descriptors. It may hold a token: its one buffer is wiped. LAZ_EPROTO: the
 * template is gone, or does not read (EAGAIN); LAZ_EOS: something is missing on this side, such as
 * descriptors that may be in flight (unix(7), ETOOMANYREFS). */
static int template_say(struct laz_template *t, const struct laz_message *message, const int *fds,
                        size_t n, struct laz_error *err)
{
    struct laz_buf line = LAZ_BUF_INIT;

    if (!laz_buf_reserve(&line, TEMPLATE_LINE))
        return laz_error_nomem(err);
    laz_message_make(message, &line);
    int os_errno = t->box->channel < 0 || t->box->out.len
                       ? EPIPE
                       : laz_os_send_fds(t->box->channel, line.data, line.len, fds, n);
    laz_wipe(line.data, line.len);
    laz_buf_fini(&line);
    if (!os_errno)
        return 0;
    int rc = laz_error_os(err, os_errno, "cannot write to the channel of the template of %s",
                          t->kind->runtime->name);
    bool is_short = laz_errno_is_shortage(os_errno) && os_errno != EAGAIN;
    return is_short ? rc : laz_error_as(err, LAZ_EPROTO);
}

static bool template_has_groups(const struct laz_template *t)
{
    return t->host.memory || t->host.nproc || t->host.cpu;
}

/* Makes the groups of the next session and sends them, so that its process starts in them. Only the
 * first session waits for that. */
static int template_prepare(struct laz_template *t, struct laz_error *err)
{
    const struct laz_message message = {.type = LAZ_MESSAGE_PREPARE};
    int entries[LAZ_CGROUP_WHATS];
    struct laz_error why = {0};
    size_t n = 0;

    if (t->group || !template_has_groups(t))
        return 0;
    int rc = laz_box_new_group(t->shared, true, &t->group, &why);
    if (!rc)
        rc = laz_cgroup_entries(t->group, entries, &n, &why);
    if (!rc)
        rc = template_say(t, &message, entries, n, &why);
    while (n)
        laz_os_close(&entries[--n]);
    if (!rc)
        return 0;
    laz_cgroup_free(t->group);
    t->group = NULL;
    if (rc == LAZ_EPROTO || laz_error_is_shortage(&why))
        return laz_error_set(err, rc, why.os_errno, "%s", why.text);
    return laz_error_set(err, LAZ_EREFUSED, 0, "the session gets no control group: %s", why.text);
}

/* The first of its spawns has to be answered in time: the sessions behind it wait for that. */
static void template_time_answer(struct laz_template *t)
{
    if (t->n_spawns && t->state != TEMPLATE_LOST)
        laz_timer_start(t->timer, laz_box_token_ms(t->shared));
    else
        laz_timer_cancel(t->timer);
}

/* Asks for the session: from here on it answers, shows its token, or ends. */
static int template_send(struct laz_template *t, struct laz_box *box, struct laz_error *err)
{
    const struct laz_message message = {.type = LAZ_MESSAGE_SPAWN,
                                        .has_id = true,
                                        .id = ++t->last_id,
                                        .token = box->token,
                                        .token_len = LAZ_TOKEN_LEN,
                                        .adds = box->purpose.adds_tools};
    int ends[LAZ_BOX_ENDS];

    int rc = template_prepare(t, err);
    if (!rc)
        rc = laz_box_make_ends(box, ends, err);
    if (!rc) {
        box->group = t->group;
        box->host = t->host;
        rc = laz_box_watch(box, err);
        if (!rc)
            rc = template_say(t, &message, ends, LAZ_BOX_ENDS, err);
        laz_box_close_ends(ends);
    }
    if (rc == LAZ_EPROTO) {
        laz_template_lose(t, rc, "it closed its connection, or does not read");
        rc = LAZ_ESETUP;
    }
    if (rc) {
        box->group = NULL; /* still that of the next */
        return rc;
    }
    t->group = NULL;
    laz_box_step(box, LAZ_BOX_EVENT_SPAWN);
    t->spawns[t->n_spawns] = (struct template_spawn){message.id, box};
    if (t->n_spawns++ == 0)
        template_time_answer(t);
    (void)template_prepare(t, NULL); /* if that fails, the next session tries again and fails */
    return 0;
}

static bool template_can_send(const struct laz_template *t)
{
    return t->n_spawns < TEMPLATE_OPEN && t->state == TEMPLATE_READY;
}

static struct laz_box *template_take_waiting(struct laz_template *t)
{
    struct laz_box *box = t->waiting;

    if (box)
        t->waiting = box->next;
    return box;
}

/* Serves those that waited, in order. */
static void template_pump(struct laz_template *t)
{
    while (t->waiting && template_can_send(t)) {
        struct laz_error why = {0};
        struct laz_box *box = template_take_waiting(t);
        if (laz_box_is_ended(box) || laz_box_was_killed(box) || !template_send(t, box, &why))
            continue;
        why.code = why.code == LAZ_EPROTO ? LAZ_ESETUP : why.code;
        laz_box_fail_by(box, &why);
    }
}

int laz_template_spawn(struct laz_template *t, struct laz_box *box, struct laz_error *err)
{
    struct laz_box **last = &t->waiting;

    t->boxes++;
    box->uid = t->box->uid;
    int rc = laz_plan_of_session(t->box->plan, t->confine, &box->plan, err);
    if (rc)
        return rc;
    box->protection = laz_protection_share(t->box->protection);
    box->runtime_file = laz_strdup(t->box->runtime_file);
    if (!box->runtime_file)
        return laz_error_nomem(err);
    if (t->is_trying) { /* what is refused proves nothing: it is not started cold instead */
        rc = template_send(t, box, err);
        return rc == LAZ_EREFUSED ? laz_error_as(err, LAZ_ESETUP) : rc;
    }
    t->made++;
    if (!t->waiting && template_can_send(t))
        return template_send(t, box, err);
    laz_box_step(box, LAZ_BOX_EVENT_WAIT);
    while (*last)
        last = &(*last)->next;
    *last = box;
    return 0;
}

void laz_template_leave(struct laz_box *box)
{
    struct laz_template *t = box->from;

    for (unsigned i = 0; i < t->n_spawns; i++)
        if (t->spawns[i].box == box)
            t->spawns[i].box = NULL;
    laz_box_unlink(&t->waiting, box);
    if (t->trial == box)
        t->trial = NULL;
    t->boxes--;
    if (laz_box_was_up(box) && t->state != TEMPLATE_LOST)
        t->kind->failures = 0;
    if (!t->boxes && (t->fades || t->state == TEMPLATE_LOST))
        laz_templates_stir(t->shared);
}

void laz_template_look(struct laz_template *t)
{
    if (t->state != TEMPLATE_READY)
        return;
    laz_box_serve(t->box, 0);
    bool ended = laz_box_look(t->box); /* reports template_ended */
    if (t->state != TEMPLATE_READY || ended)
        return;
    if (laz_box_was_reaped(t->box)) /* what is inside goes with it, and may still take a spawn */
        template_lost_process(t);
    else if (t->box->channel < 0)
        laz_template_lose(t, LAZ_ESETUP, "it closed its connection");
}

bool laz_template_settles(const struct template_kind *kind)
{
    return laz_runtime_has(kind->runtime, LAZ_RUNTIME_ONE_THREAD);
}

bool laz_template_is_ready(const struct laz_template *t)
{
    return t->state == TEMPLATE_READY;
}

bool laz_template_is_up(const struct laz_template *t)
{
    return t->state != TEMPLATE_STARTING;
}

const char *laz_template_why(struct laz_template *t)
{
    laz_template_look(t);
    return t->state == TEMPLATE_LOST ? t->kind->last.text : NULL;
}

/* ---- the trial ------------------------------------------------------------------------------ */

static void trial_came(void *user)
{
    struct laz_template *t = user;

    if (t->state != TEMPLATE_TRIED)
        return;
    t->shared->templates->proven = true;
    template_step(t, TEMPLATE_SERVE);
    laz_templates_stir(
        t->shared); /* the trial's box is released, and sessions that wait are served */
}

/* Its own box, or the trial's. */
static void template_broken(void *user, const struct laz_error *why)
{
    laz_template_lose(user, why->code, why->text);
}

static void trial_ended(void *user)
{
    struct laz_template *t = user;
    struct laz_buf text = LAZ_BUF_INIT;

    if (t->state != TEMPLATE_TRIED)
        return;
    if (t->trial && t->trial->complaint.len)
        laz_visible_line(&text, t->trial->complaint.data, t->trial->complaint.len);
    laz_template_lose(t, LAZ_EREFUSED,
                      text.len ? laz_buf_text(&text) : "a session ended before it was there");
    laz_buf_fini(&text);
}

static void template_try(struct laz_template *t)
{
    const struct laz_box_owner owner = {
        .user = t, .authenticated = trial_came, .broken = template_broken, .ended = trial_ended};
    const struct laz_box_purpose purpose = {
        .runtime = t->kind->runtime,
        .kind = &laz_box_from_template,
        .template_of = t,
        .has_network = t->kind->has_network,
        .has_credentials = t->kind->has_credentials,
    };
    struct laz_error why = {0};

    template_step(t, TEMPLATE_TRY);
    t->is_trying = true;
    int rc = laz_box_start(t->shared, &purpose, &owner, &t->trial, &why);
    t->is_trying = false;
    if (rc)
        laz_template_lose(t, why.code, why.text);
}

bool laz_template_knows(const struct laz_box *box, const char *tools)
{
    return box->from && box->plan->confine == box->from->confine &&
           strcmp(box->from->tools, tools) == 0;
}

/* ---- what a template reports ---------------------------------------------------------------- */

/* What the settings name for its language, or for any. */
static void template_preload(const struct laz_template *t, struct laz_strv *names)
{
    const struct laz_strv *all = &t->shared->values->pool.preload;
    const char *runtime = t->kind->runtime->name;
    const size_t len = strlen(runtime);

    for (size_t i = 0; i < all->n; i++)
        if (!strchr(all->items[i], ':'))
            laz_strv_add(names, all->items[i]);
        else if (strncmp(all->items[i], runtime, len) == 0 && all->items[i][len] == ':')
            laz_strv_add(names, all->items[i] + len + 1);
}

static bool template_init_text(const struct laz_template *t, struct laz_buf *line)
{
    const struct laz_settings_values *values = t->shared->values;
    struct laz_strv preload = LAZ_STRV_INIT;

    template_preload(t, &preload);
    const struct laz_message init = {
        .type = LAZ_MESSAGE_INIT,
        .protocol = LAZ_PROTOCOL,
        .is_template = true,
        .options = {.runtime_file = t->box->runtime_file,
                    .libraries = t->box->libraries,
                    .max_message = (int64_t)values->session.max_message_size,
                    .max_value = (int64_t)values->session.max_value_size,
                    .max_files = (int64_t)values->artifacts.max_files,
                    .max_parts = (int64_t)values->artifacts.max_size,
                    .options = t->kind->options,
                    .options_len = strlen(t->kind->options),
                    .preload = preload,
                    .home = LAZ_BOX_HOME,
                    .commands = laz_box_commands_program(t->box),
                    .tmp_size = (int64_t)values->sandbox.tmp_size,
                    .has_groups = template_has_groups(t),
                    .has_network = t->kind->has_network},
        .confine = t->confine,
        .confine_len = strlen(t->confine),
        .tools = t->tools,
        .tools_len = strlen(t->tools),
    };

    laz_message_make(&init, line);
    const bool well = !line->failed && !preload.failed;
    laz_strv_fini(&preload);
    return well;
}

static void template_authenticated(void *user)
{
    struct laz_template *t = user;
    struct laz_buf init = LAZ_BUF_INIT;

    t->pid_namespace = t->box->pid_namespace;
    if (!template_init_text(t, &init) || !laz_box_send(t->box, init.data, init.len, 0))
        laz_template_lose(t, LAZ_ESETUP, "cannot write to its channel");
    laz_buf_fini(&init);
}

static void template_ready(struct laz_template *t, const struct laz_message *message)
{
    laz_timer_cancel(t->timer);
    if (message->protocol != LAZ_PROTOCOL) {
        laz_template_lose(t, LAZ_ESETUP, "it speaks another protocol");
        return;
    }
    laz_box_settle(t->box);
    t->kind->last = (struct laz_error){0};
    (void)template_prepare(t, NULL);
    laz_log(&t->shared->driver->log, LAZ_LOG_INFO, "a template of %s is ready, after %.0f ms",
            t->kind->runtime->name, (double)(laz_clock_us() - t->box->started_us) / 1000.0);
    if (t->shared->templates->proven) {
        template_step(t, TEMPLATE_SERVE);
        template_pump(t);
    } else {
        template_try(t);
    }
}

/* The next spawn in order. A refusal is the session's, unless it is the trial's. */
static bool template_answered(struct laz_template *t, const struct laz_message *message)
{
    struct laz_box *box = t->spawns[0].box;

    if (!t->n_spawns || t->spawns[0].id != message->id)
        return false;
    memmove(t->spawns, t->spawns + 1, --t->n_spawns * sizeof *t->spawns);
    template_time_answer(t);
    if (message->error && box)
        laz_box_break(box, LAZ_ESETUP, message->error);
    template_pump(t);
    return true;
}

/* It cannot begin. What the settings name and it cannot load is their mistake, and no reason to do
 * without. */
static void template_refuses(struct laz_template *t, const struct laz_message *message)
{
    const bool lacks_package = message->kind && strcmp(message->kind, "preload") == 0;
    struct laz_error why = {0};

    laz_error_set(&why, lacks_package ? LAZ_ECONFIG : LAZ_ESETUP, 0, "%s",
                  message->message ? message->message : "no reason was given");
    if (lacks_package)
        laz_settings_blame(t->shared->values, "pool.preload", NULL, &why);
    t->kind->is_said = true;
    laz_template_lose(t, why.code, why.text);
}

static bool template_line(void *user, char *line, size_t len)
{
    struct laz_template *t = user;
    struct laz_message message;
    struct laz_error err = {0};
    uint32_t state = t->state == TEMPLATE_STARTING ? LAZ_WIRE_STARTING : LAZ_WIRE_TEMPLATE;

    if (t->state == TEMPLATE_LOST)
        return false;
    int rc = laz_message_parse(line, len, state, &message, &err);
    if (rc == LAZ_ENOMEM)
        laz_template_lose(t, rc, err.text);
    else if (rc)
        laz_template_distrust(t, err.text);
    else if (message.type == LAZ_MESSAGE_READY)
        template_ready(t, &message);
    else if (message.type == LAZ_MESSAGE_ERROR)
        template_refuses(t, &message);
    else if (!template_answered(t, &message))
        laz_template_distrust(t, "it answered what it was not asked");
    laz_message_fini(&message);
    return t->state != TEMPLATE_LOST;
}

static void template_ended(void *user)
{
    struct laz_template *t = user;

    if (t->state == TEMPLATE_LOST)
        laz_templates_stir(t->shared);
    else
        template_lost_process(t);
}

/* Not ready, or a spawn is not answered. What has come is read before that is judged, because the
 * loop may have stood still. */
static void template_too_late(void *user)
{
    struct laz_template *t = user;
    const bool starts = t->state == TEMPLATE_STARTING;
    int64_t first = t->spawns[0].id;

    laz_box_catch_up(t->box);
    if (t->state == TEMPLATE_STARTING)
        laz_template_lose(t, LAZ_ETIMEOUT, "it was not ready within start_timeout");
    else if (!starts && t->state != TEMPLATE_LOST && t->n_spawns && t->spawns[0].id == first)
        laz_template_lose(t, LAZ_ETIMEOUT, "it does not answer");
}

/* ---- starting ------------------------------------------------------------------------------- */

static int template_start_box(struct laz_template *t, struct laz_error *err)
{
    struct laz_box_shared *shared = t->shared;
    const struct laz_backend_choice *choice;
    const struct laz_box_owner owner = {
        .user = t,
        .authenticated = template_authenticated,
        .line = template_line, /* no output: it executes nothing */
        .broken = template_broken,
        .ended = template_ended,
    };
    int rc = laz_box_chosen(shared, &choice, err);

    if (rc)
        return rc;
    const struct laz_box_purpose purpose = {
        .runtime = t->kind->runtime,
        .choice = choice,
        .read = &t->kind->read,
        .is_template = true,
        .has_network = t->kind->has_network,
        .has_credentials = t->kind->has_credentials,
    };
    return laz_box_start(shared, &purpose, &owner, &t->box, err);
}

static void template_unlink(struct laz_template *t)
{
    for (struct laz_template **at = &t->shared->templates->all; *at; at = &(*at)->next) {
        if (*at == t) {
            *at = t->next;
            return;
        }
    }
}

void laz_template_free(struct laz_template *t)
{
    template_unlink(t);
    template_detach(t);
    laz_metrics_end_life(&t->life);
    laz_timer_stop(t->timer);
    laz_box_release(t->box);
    laz_cgroup_free(t->group);
    free(t->confine);
    free(t->tools);
    free(t);
}

int laz_template_start(struct laz_box_shared *shared, struct template_kind *kind,
                       struct laz_template **out, struct laz_error *err)
{
    struct laz_template *t = calloc(1, sizeof *t);
    struct laz_buf confine = LAZ_BUF_INIT;

    if (!t)
        return laz_error_nomem(err);
    t->shared = shared;
    t->kind = kind;
    t->next = shared->templates->all;
    shared->templates->all = t;
    t->timer = laz_timer_new(shared->driver->loop, template_too_late, t);
    int rc = t->timer ? template_start_box(t, err) : laz_error_nomem(err);
    if (!rc) {
        t->host = laz_box_host(shared->groups, &shared->values->limits,
                               t->box->uid != LAZ_SPAWN_SAME_ID, true);
        laz_plan_confine_json(t->box->plan, &confine);
        t->confine = laz_buf_steal(&confine);
        t->tools = laz_strdup(kind->tools);
        rc = t->confine && t->tools ? 0 : laz_error_nomem(err);
    }
    if (rc) {
        laz_template_free(t);
        return rc;
    }
    if (shared->values->session.start_timeout_ms)
        laz_timer_start(t->timer, shared->values->session.start_timeout_ms +
                                      (laz_template_settles(kind) ? TEMPLATE_SETTLES_MS : 0));
    *out = t;
    return 0;
}

/* ---- tidying up ----------------------------------------------------------------------------- */

/* The template of these sessions is lost. Those that it was asked for have failed; those that only
 * waited may be started cold. */
static void template_disperse(struct laz_template *t)
{
    const struct laz_templates *set = t->shared->templates;
    const char *why = set->refused ? set->refused : t->kind->last.text;
    const bool is_mistake = t->kind->last.code == LAZ_ECONFIG;
    bool may_be_cold =
        t->shared->values->pool.warm != LAZ_WARM_TEMPLATE && !set->ending && !is_mistake;
    struct laz_box *box;

    for (unsigned i = 0; i < t->n_spawns; i++) {
        box = t->spawns[i].box;
        t->spawns[i].box = NULL;
        if (box && !laz_box_was_authenticated(box) && box != t->trial)
            laz_box_break(box, LAZ_ESETUP, why);
    }
    while ((box = template_take_waiting(t))) {
        struct laz_error err = {0};
        if (laz_box_is_ended(box) || laz_box_was_killed(box))
            continue;
        if (may_be_cold && !laz_box_turn_cold(box, &err))
            continue;
        if (!err.code)
            laz_error_set(&err, LAZ_ESETUP, 0, "%s", why);
        err.code = is_mistake ? LAZ_ECONFIG : LAZ_ESETUP;
        laz_box_fail_by(box, &err);
    }
}

void laz_template_tidy(struct laz_template *t)
{
    struct laz_box *trial = t->trial;

    if (trial && t->state != TEMPLATE_TRIED) {
        t->trial = NULL;
        laz_box_release(trial);
    }
    if (t->state == TEMPLATE_READY)
        template_pump(t);
    if (t->fades && t->state != TEMPLATE_LOST && !t->boxes)
        laz_template_lose(t, 0, "");
    if (t->state == TEMPLATE_LOST)
        template_disperse(t);
    if (t->state == TEMPLATE_LOST && t->box && laz_box_is_ended(t->box)) {
        laz_box_release(t->box);
        t->box = NULL;
    }
    if (t->state == TEMPLATE_LOST && !t->box && !t->boxes)
        laz_template_free(t);
}
