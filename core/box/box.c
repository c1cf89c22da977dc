/* SPDX-License-Identifier: MIT */
/* box.c - the life of a box: what is watched, what ends it, and when it is freed.
 * Side: host.  Input trusted: no.
 *
 * When something is done is decided here, by the state of the box (box_fsm.h); how, by its kind.
 * A box is freed only when its processes have ended: until then it stays in the list of those that
 * leave (laz_box_shared.leaving). */
#include "box/box_private.h"
#include "box/protection.h"

#include "base/container.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/signals.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOX_TOKEN_MS  5000  /* from the spawn to the token, at least */
#define BOX_LEAVE_MS  10000 /* from the end of its connection to its own */
#define BOX_REAPER_MS 1000  /* more, for a reaper to end its descendants */
#define BOX_LAST_MS   100   /* from the last kill to the end of the wait */
#define BOX_LOOK_MS   20    /* between two looks at a process whose end nothing reports */

static void box_process_ready(void *user, uint32_t events);

bool laz_box_step(struct laz_box *box, enum laz_box_event event)
{
    return laz_box_life_step(&box->life, event, &box->shared->driver->log, box->name);
}

void laz_box_settle(struct laz_box *box)
{
    struct laz_backend_choice *choice = &box->shared->choice;

    laz_box_step(box, LAZ_BOX_EVENT_SETTLE);
    if (!box->far && choice->ops && strcmp(box->plan->backend, choice->name) == 0)
        choice->proven = true; /* else the box is of a choice that was given up */
}

uint64_t laz_box_spawn_ms(const struct laz_box_shared *shared)
{
    return shared->values->session.start_timeout_ms / 2;
}

uint64_t laz_box_token_ms(const struct laz_box_shared *shared)
{
    uint64_t part = shared->values->session.start_timeout_ms / 4;

    return part > BOX_TOKEN_MS ? part : BOX_TOKEN_MS;
}

/* ---- breaking off --------------------------------------------------------------------------- */

/* A process that has not shown its token runs no untrusted code yet. If it breaks a rule, the
 * template it came from cannot be relied on. */
void laz_box_fail_by(struct laz_box *box, const struct laz_error *why)
{
    if (laz_box_is_ended(box))
        return;
    if (box->kind->distrust && !laz_box_was_authenticated(box) &&
        (why->code == LAZ_EPROTO || why->code == LAZ_ETIMEOUT))
        box->kind->distrust(box, why->text);
    laz_box_step(box, LAZ_BOX_EVENT_BREAK);
    laz_box_close_channel(box);
    if (box->owner.broken)
        box->owner.broken(box->owner.user, why);
}

void laz_box_fail(struct laz_box *box, int code, const char *format, ...)
{
    struct laz_error err = {0};
    char text[sizeof err.text];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    laz_error_set(&err, code, 0, "%s", text);
    laz_box_fail_by(box, &err);
}

void laz_box_break(struct laz_box *box, int code, const char *text)
{
    if (box->channel >= 0)
        laz_box_fail(box, code, "%s", text);
}

void laz_box_hung_up(struct laz_box *box)
{
    if (laz_box_has_hung_up(box) || laz_box_is_ended(box))
        return;
    uint64_t rss;
    laz_box_step(box, LAZ_BOX_EVENT_HANG_UP);
    laz_os_usage_read(&box->usage, &box->cpu_us, &rss); /* soon it is reaped, inside */
    laz_box_close_channel(box);
    if (!laz_box_was_killed(box))
        laz_timer_start(box->patience, BOX_LEAVE_MS); /* its process should follow */
}

void laz_box_be_patient(struct laz_box *box)
{
    if (!laz_box_was_authenticated(box) && !laz_box_has_hung_up(box) && !laz_box_was_killed(box) &&
        box->life.state != LAZ_BOX_WAITING)
        laz_timer_start(box->patience, laz_box_token_ms(box->shared));
}

/* ---- the end -------------------------------------------------------------------------------- */

void laz_box_unlink(struct laz_box **list, struct laz_box *box)
{
    while (*list && *list != box)
        list = &(*list)->next;
    if (*list)
        *list = box->next;
}

static void box_free(struct laz_box *box)
{
    laz_box_unlink(&box->shared->leaving, box);
    laz_box_drop_group(box);
    if (box->returns_uid)
        laz_uids_give_back(box->shared->uids, box->uid);
    else if (box->had_process && box->kind->give_back && box->uid != LAZ_SPAWN_SAME_ID)
        laz_log(&box->shared->driver->log, LAZ_LOG_ERROR, "processes of uid %u may be left",
                box->uid);
    laz_buf_fini(&box->complaint);
    laz_plan_free(box->plan);
    laz_protection_drop(box->protection);
    laz_strv_fini(&box->protects);
    laz_strv_fini(&box->libraries);
    free(box->runtime_file);
    free(box->commands_program);
    free(box->directory);
    free(box->socket_name);
    memset(box->token, 0, sizeof box->token);
    if (box->kind->leave)
        box->kind->leave(box);
    if (box->shared->for_uid)
        laz_driver_stir(box->shared->driver, &box->shared->uid_stir);
    free(box);
}

static void box_removed(struct laz_post *post)
{
    box_free(LAZ_CONTAINER(post, struct laz_box, removed));
}

static void box_end_left(struct laz_box *box)
{
    laz_box_end_group(box);
    if (box->kind->give_back)
        box->kind->give_back(box);
}

/* In a thread. */
static void box_remove(struct laz_work *work)
{
    struct laz_box *box = LAZ_CONTAINER(work, struct laz_box, removal);

    if (box->has_left)
        box_end_left(box); /* first: what lives on could fill the directory again */
    laz_os_remove_tree(box->directory);
    laz_loop_post(box->shared->driver->loop, &box->removed);
}

/* What untrusted code could fill with files takes long to remove, and processes that it has left
 * take long to end: other sessions do not wait for it. */
static bool box_leaves_much(const struct laz_box *box)
{
    return box->directory && box->ops && !laz_backend_has_own_files(box->ops) &&
           laz_box_is_ended(box) && box->shared->remover;
}

/* The box leaves with its directory: until then its uid is no other session's, and the engine is
 * not freed. A host that dies leaves it in its own directory, which the next one removes. */
static bool box_removes_later(struct laz_box *box)
{
    box->removal.run = box_remove;
    box->removed.run = box_removed;
    laz_box_unlink(&box->shared->leaving, box); /* if it is there */
    box->next = box->shared->leaving;
    box->shared->leaving = box;
    return laz_workers_add(box->shared->remover, &box->removal, NULL) == 0;
}

/* Nothing of it runs, and nobody hears of it any more. */
static void box_discard(struct laz_box *box)
{
    const bool leaves_much = box_leaves_much(box);

    box->had_process = box->process.pid >= 0;
    box->has_left = leaves_much && box->plan && box->plan->ends_by == LAZ_END_REAP;
    laz_io_stop(box->group_io);
    box->group_io = NULL;
    if (!box->has_left)
        box_end_left(box);
    laz_box_free_channel(box);
    laz_box_close_output(box);
    laz_io_stop(box->process_io);
    box->process_io = NULL;
    laz_os_usage_close(&box->usage);
    laz_os_close(&box->agent_fd);
    laz_os_close(&box->init_fd);
    laz_timer_stop(box->patience);
    laz_process_close(&box->process);
    if (leaves_much && box_removes_later(box))
        return;
    if (box->has_left)
        box_end_left(box);
    if (box->directory)
        laz_os_remove_tree(box->directory);
    box_free(box);
}

void laz_box_end(struct laz_box *box)
{
    if (laz_box_is_ended(box))
        return;
    laz_box_note_end_of_reaper(box);
    laz_box_read_status(box);
    laz_box_drain(box);
    laz_box_step(box, LAZ_BOX_EVENT_END);
    if (box->kind->ended)
        box->kind->ended(box);
    laz_io_stop(box->process_io);
    box->process_io = NULL;
    laz_box_close_channel(box);
    if (box->released)
        box_discard(box);
    else if (box->owner.ended)
        box->owner.ended(box->owner.user);
}

/* Gives its processes this time to end. Where no descriptor reports that, because a start failed
 * half-way or the watch was refused, they are looked at again and again. */
static void box_await_end(struct laz_box *box, uint64_t ms)
{
    if (!box->process_io && laz_box_is_known(box) && !laz_box_was_reaped(box))
        (void)laz_box_follow(box, NULL);
    bool is_reported = box->process_io || !laz_box_is_known(box);
    box->end_due_ms = laz_loop_now_ms(box->shared->driver->loop) + ms;
    laz_timer_start(box->patience, is_reported || ms < BOX_LOOK_MS ? ms : BOX_LOOK_MS);
}

/* The outermost process is gone, the first one inside is not: that one is watched from here on. */
static void box_watch_inside(struct laz_box *box)
{
    laz_io_stop(box->process_io);
    box->process_io =
        laz_io_start(box->shared->driver->loop, box->init_fd, LAZ_IO_READ, box_process_ready, box);
    if (laz_box_was_killed(box)) { /* its time runs, or the end could be put off forever */
        if (!box->process_io)
            laz_timer_start(box->patience, 0);
        return;
    }
    laz_box_step(box, LAZ_BOX_EVENT_KILL); /* is_over has killed it */
    box_await_end(box, box->shared->death_ms);
}

static void box_process_ready(void *user, uint32_t events)
{
    struct laz_box *box = user;

    (void)events;
    if (box->kind->is_over(box))
        laz_box_end(box);
    else if (laz_box_was_reaped(box))
        box_watch_inside(box);
}

bool laz_box_look(struct laz_box *box)
{
    if (!laz_box_is_ended(box) && box->kind->is_over(box))
        laz_box_end(box);
    return laz_box_is_ended(box);
}

/* A process that was killed ends when the kernel can: that says nothing about the template it came
 * from. One that never became known is the template's fault. */
static void box_does_not_end(struct laz_box *box)
{
    if (laz_box_is_known(box))
        laz_log(&box->shared->driver->log, LAZ_LOG_ERROR, "process %d does not end",
                (int)box->process.pid);
    else if (box->kind->distrust)
        box->kind->distrust(box, "a session that was asked for neither comes nor ends");
}

/* It is killed once more, which is the first time where its reaper had the time till now. After
 * that only the kernel can do more, and the wait is over. */
static void box_is_overdue(struct laz_box *box)
{
    box->kind->kill(box);
    if (laz_box_is_known(box) && !laz_box_life_had(&box->life, LAZ_BOX_EVENT_OVERDUE)) {
        laz_box_step(box, LAZ_BOX_EVENT_OVERDUE);
        laz_timer_start(box->patience, BOX_LAST_MS);
        return;
    }
    if (!box->kind->is_over(box))
        box_does_not_end(box);
    laz_box_end(box);
}

const char *laz_box_unprotected(const struct laz_box *box)
{
    return laz_protection_lost(box->protection);
}

const char *laz_box_protects(const struct laz_box *box, const char *message)
{
    return laz_protection_named(box->protection, message);
}

/* What has come is read before it is judged as late, because the loop may have stood still. */
void laz_box_out_of_patience(void *user)
{
    struct laz_box *box = user;

    if (laz_box_is_ended(box))
        return;
    if (box->kind->is_over(box)) {
        laz_box_end(box);
    } else if (laz_box_was_killed(box)) {
        if (laz_loop_now_ms(box->shared->driver->loop) >= box->end_due_ms)
            box_is_overdue(box);
        else
            laz_timer_start(box->patience, BOX_LOOK_MS);
    } else if (laz_box_has_hung_up(box)) {
        laz_box_fail(box, LAZ_EPROTO, "the agent closed its connection and did not end");
        laz_box_kill(box);
    } else {
        laz_box_catch_up(box);
        if (box->life.state == LAZ_BOX_SPAWNED || box->life.state == LAZ_BOX_CONNECTED)
            laz_box_fail(box, LAZ_ETIMEOUT, "no token was shown within %g seconds",
                         (double)laz_box_token_ms(box->shared) / 1000.0);
    }
}

/* Was anything started that has to end before the box is freed? */
static bool box_is_there(const struct laz_box *box)
{
    return laz_box_is_known(box) || box->status_io;
}

/* A reaper gets the time to end its descendants before it is killed itself. */
static bool box_ends_by_reaper(const struct laz_box *box)
{
    return box->plan && box->plan->ends_by == LAZ_END_REAP && laz_box_is_known(box);
}

bool laz_box_interrupt(const struct laz_box *box, uint32_t number)
{
    return !laz_box_was_killed(box) && !laz_box_is_ended(box) &&
           (laz_box_is_known(box) || box->far) && box->kind->interrupt(box, number);
}

void laz_box_kill(struct laz_box *box)
{
    if (laz_box_was_killed(box) || laz_box_is_ended(box))
        return;
    uint64_t ms = laz_box_is_known(box) ? box->shared->death_ms : laz_box_token_ms(box->shared);
    laz_box_step(box, LAZ_BOX_EVENT_KILL);
    if (box_ends_by_reaper(box)) {
        laz_process_signal(&box->process, SIGTERM);
        ms += BOX_REAPER_MS;
    } else {
        box->kind->kill(box);
    }
    if (box_is_there(box))
        box_await_end(box, ms);
    else
        laz_box_end(box);
}

void laz_box_release(struct laz_box *box)
{
    if (!box)
        return;
    box->owner = (struct laz_box_owner){0};
    box->released = true;
    if (laz_box_is_ended(box) || !box_is_there(box)) {
        box_discard(box);
        return;
    }
    box->next = box->shared->leaving;
    box->shared->leaving = box;
    laz_box_close_channel(box);
    laz_box_kill(box);
}

/* ---- watching ------------------------------------------------------------------------------- */

int laz_box_follow(struct laz_box *box, struct laz_error *err)
{
    box->process_io = laz_io_start(box->shared->driver->loop, box->process.pidfd, LAZ_IO_READ,
                                   box_process_ready, box);
    return box->process_io ? 0 : laz_io_error(err, "a session");
}

int laz_box_watch(struct laz_box *box, struct laz_error *err)
{
    bool ok = (box->process.pidfd < 0 || !laz_box_follow(box, NULL)) &&
              laz_box_watch_channel(box) && (box->process_io || box->channel_io) &&
              laz_box_watch_output(box);
    if (!ok)
        return laz_io_error(err, "a descriptor of a session");
    if (laz_box_watch_group(box, err))
        return LAZ_EOS;
    laz_timer_start(box->patience, laz_box_token_ms(box->shared));
    return 0;
}

/* ---- all of them ---------------------------------------------------------------------------- */

int laz_box_chosen(const struct laz_box_shared *shared, const struct laz_backend_choice **choice,
                   struct laz_error *err)
{
    *choice = &shared->choice;
    return shared->choice.ops
               ? 0
               : laz_error_set(err, LAZ_ESETUP, 0, "no backend of sandbox.backend works");
}

void laz_box_shared_fini(struct laz_box_shared *shared)
{
    laz_buf_fini(&shared->choice.options);
    free(shared->choice.name);
    laz_programs_store_fini(&shared->programs);
    laz_staged_free(shared->staged);
    laz_strv_fini(&shared->unmet);
    free(shared->no_scope);
    laz_cgroups_free(shared->groups);
    laz_uids_free(shared->uids);
}
