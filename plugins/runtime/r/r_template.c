/* SPDX-License-Identifier: MIT */
/* r_template.c - an R that is started once and copied for each session.
 * Side: agent.  Input trusted: yes (names of packages of the host's settings).
 *
 * R keeps little state that belongs to one process: the directory of temporary files, the seeds of
 * its generators and of the C library's, by which it names temporary files, and this plugin's
 * record of the session's process id. Nothing runs between the last of these calls in the template
 * and the first in a copy. */
#include "r.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* One use more than R's compiler waits for, and the number of generations of the collector. */
#define TEMPLATE_ROUNDS 3

static void template_load(struct r_state *state)
{
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)state->n_preload));

    for (size_t i = 0; i < state->n_preload; i++)
        SET_STRING_ELT(names, (R_xlen_t)i, Rf_mkCharCE(state->preload[i], CE_UTF8));
    r_support1(state, "preload", names);
    UNPROTECT(1);
}

int r_preload(void *data, const char *const *names, size_t n, struct laz_error *err)
{
    struct r_state *state = data;

    state->preload = names;
    state->n_preload = n;
    bool loaded = r_protected(state, template_load);
    state->preload = NULL;
    state->n_preload = 0;
    int rc = loaded
                 ? 0
                 : laz_fail(err, LAZ_ESETUP, "a package of pool.preload cannot be loaded: %.800s",
                            r_last_error(state));
    r_failure_clear(&state->failure);
    r_console_flush(state);
    return rc;
}

static void template_warm_up(struct r_state *state)
{
    r_tools_attach(state);
    r_support1(state, "warm_up", R_NilValue);
}

/* Follows the code path of an execution. */
static void template_execute(struct r_state *state, const char *code)
{
    struct laz_outcome outcome = {.size = sizeof outcome};

    r_eval(state, code, strlen(code), 1, &outcome);
}

/* Objects that exist now are in every copy. Each collection moves survivors to an older generation,
 * until only a full collection visits them and writes to their pages (R internals, 1.12). */
void r_before_fork(void *data)
{
    struct r_state *state = data;

    r_protected(state, template_warm_up);
    for (int i = 0; i < TEMPLATE_ROUNDS; i++) {
        template_execute(state, "1 + 1");
        template_execute(state, "stop('')");
        R_gc();
    }
    r_failure_clear(&state->failure);
    r_console_flush(state);
    fflush(NULL);
}

static void template_renew(struct r_state *state)
{
    r_support1(state, "renew", R_NilValue);
}

int r_renew(void *data, struct laz_error *err)
{
    struct r_state *state = data;
    unsigned seed;

    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        return laz_fail(
            err, LAZ_ESETUP,
            "cannot create a session of the template: the system gives no random numbers");
    srand(seed); /* for tempfile() */
    state->owner = getpid();
    if (!r_protected(state, template_renew))
        return laz_fail(err, LAZ_ESETUP, "cannot create a session of the template: %.800s",
                        r_last_error(state));
    template_execute(state, "1 + 1"); /* its pages are copied now, and not while a user waits */
    return 0;
}
