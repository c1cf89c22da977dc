/* SPDX-License-Identifier: MIT */
/* box_scope.c - control groups for an ordinary user: the engine asks the user's systemd, once.
 * Side: host.  Input trusted: yes (the user's own manager).
 *
 * Whoever needs the backend first begins the question (box_trial.c) and waits for its end, as
 * everyone who comes meanwhile does, so that the first session has its group already.  The answer
 * is an event of the loop, and has the time that a box has for its token.  Where nothing comes of
 * it, sessions are watched as before, and the log says why, once. */
#include "box/box_private.h"

#include "base/container.h"
#include "os/scope.h"
#include "os/users.h"

#include <stdlib.h>

struct laz_box_scope {
    struct laz_box_shared *shared;
    struct laz_scope *asked; /* NULL: the question is over */
    struct laz_io *io;
    struct laz_timer *timer;
    struct laz_stir stir;
    struct laz_error why; /* nothing came of it */
};

static void scope_stop(struct laz_box_scope *scope)
{
    laz_io_stop(scope->io);
    laz_timer_stop(scope->timer);
    laz_scope_free(scope->asked);
    scope->io = NULL;
    scope->timer = NULL;
    scope->asked = NULL;
}

/* There will be no groups. `why`: for the log and for `lazaret doctor`. */
static void scope_refused(struct laz_box_shared *shared, uint32_t level, const char *why)
{
    free(shared->no_scope);
    shared->no_scope = laz_strdup(why);
    laz_log(&shared->driver->log, level,
            "no control groups from the user's systemd: %s; limits of a session as a whole are "
            "watched instead",
            why);
}

/* An answer, or the end of its time. */
static void scope_over(void *user)
{
    struct laz_box_scope *scope = user;
    struct laz_box_shared *shared = scope->shared;
    int rc = laz_scope_take(scope->asked, shared->groups, &scope->why);

    if (!rc)
        laz_log(&shared->driver->log, LAZ_LOG_INFO,
                "the user's systemd has given control groups in %s",
                laz_cgroups_place(shared->groups));
    else if (!laz_error_is_shortage(&scope->why))
        scope_refused(shared, LAZ_LOG_WARNING, scope->why.text);
    scope_stop(scope);
    laz_driver_stir(shared->driver, &scope->stir);
}

static void scope_ready(void *user, uint32_t events)
{
    (void)events;
    scope_over(user);
}

/* Where memory or descriptors are exhausted nothing weaker is taken: those who wait get the error,
 * and the next one asks again. */
static void scope_advance(struct laz_stir *stir)
{
    struct laz_box_scope *scope = LAZ_CONTAINER(stir, struct laz_box_scope, stir);
    struct laz_box_shared *shared = scope->shared;
    struct laz_error why = scope->why;
    bool is_short = why.code && laz_error_is_shortage(&why);

    if (is_short)
        laz_box_end_scope(shared);
    laz_box_backend_goes_on(shared, is_short ? &why : NULL);
}

/* Why nothing is to be asked; NULL: something is. */
static const char *scope_needless(const struct laz_box_shared *shared)
{
    const struct laz_plan_host host =
        laz_box_host(shared->groups, &shared->values->limits, false, false);

    if (host.memory && host.nproc)
        return "";
    if (laz_os_is_root())
        return "lazaret runs as root, for which no part of the tree is delegated";
    return shared->values->sandbox.ask_systemd ? NULL : "sandbox.ask_systemd is false";
}

static int scope_begin(struct laz_box_scope *scope, struct laz_error *err)
{
    struct laz_box_shared *shared = scope->shared;
    struct laz_loop *loop = shared->driver->loop;
    int rc = laz_scope_ask(shared->spawner, shared->agent, &scope->asked, err);

    if (rc)
        return rc;
    scope->io = laz_io_start(loop, laz_scope_fd(scope->asked), LAZ_IO_READ, scope_ready, scope);
    scope->timer = laz_timer_new(loop, scope_over, scope);
    if (!scope->io || !scope->timer)
        return laz_error_set(err, LAZ_EOS, 0, "the answer of systemd cannot be awaited");
    laz_timer_start(scope->timer, laz_box_token_ms(shared));
    return 0;
}

int laz_box_ask_scope(struct laz_box_shared *shared, struct laz_error *err)
{
    struct laz_box_scope *scope = shared->scope;
    struct laz_error why = {0};

    if (scope || !shared->groups)
        return scope && scope->asked ? LAZ_BOX_ASKED : 0;
    scope = shared->scope = calloc(1, sizeof *scope);
    if (!scope)
        return laz_error_nomem(err);
    scope->shared = shared;
    scope->stir.advance = scope_advance;
    const char *needless = scope_needless(shared);
    if (needless) {
        shared->no_scope = *needless ? laz_strdup(needless) : NULL;
        return 0;
    }
    if (!scope_begin(scope, &why))
        return LAZ_BOX_ASKED;
    scope_stop(scope);
    if (!laz_error_is_shortage(&why)) {
        scope_refused(shared, LAZ_LOG_INFO, why.text);
        return 0;
    }
    laz_box_end_scope(shared);
    return laz_error_set(err, why.code, why.os_errno, "%s", why.text);
}

void laz_box_end_scope(struct laz_box_shared *shared)
{
    if (!shared->scope)
        return;
    scope_stop(shared->scope);
    laz_driver_unstir(shared->driver, &shared->scope->stir);
    free(shared->scope);
    shared->scope = NULL;
}
