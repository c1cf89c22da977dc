/* SPDX-License-Identifier: MIT */
/* network.c - a session with a network list of the doctor's own.
 *
 * The list names two servers of the doctor on the host's loopback, each on a port of its own, by
 * names that exist in it alone. Nothing depends on the network of this machine or on its DNS, and
 * while lists are kept nothing leaves it. That one of the names is reached is what the refusals are
 * compared with: a list that reaches nothing refuses everything. */
#include "doctor/doctor_private.h"

#include <stdlib.h>
#include <string.h>

#define NETWORK_SECOND     "second.doctor.test" /* has the other port, so that it has a listener */
#define NETWORK_HERE(name) "\"" name "\" = \"127.0.0.1\""
#define NETWORK_HOSTS                                                                              \
    "{" NETWORK_HERE(DOCTOR_LISTED) ", " NETWORK_HERE(DOCTOR_WEB) ", " NETWORK_HERE(               \
        DOCTOR_TLS) ", " NETWORK_HERE(NETWORK_SECOND) "}"

bool doctor_network_reaches(const struct doctor_backend *backend)
{
    for (size_t i = 0; i < DOCTOR_ACTS; i++)
        if (doctor_acts[i].list == DOCTOR_REACHES)
            return backend->inside[i].came == DOCTOR_WORKED;
    return false;
}

char *doctor_network_problem(const struct doctor_backend *backend)
{
    for (size_t i = 0; i < DOCTOR_ACTS; i++) {
        const struct doctor_act *act = &doctor_acts[i];
        const struct doctor_try *tried = &backend->inside[i];

        if (act->list == DOCTOR_NO_LIST)
            continue;
        if (tried->came == DOCTOR_LATE)
            return laz_strdup(DOCTOR_OUT_OF_TIME);
        if (tried->came == DOCTOR_TIMED_OUT)
            return laz_strdupf("%s: " DOCTOR_MORE_TIME, act->name);
        if (act->list == DOCTOR_REACHES ? tried->came != DOCTOR_WORKED
                                        : tried->came != DOCTOR_DENIED)
            return laz_strdupf("does not work: %s: %s", act->name,
                               tried->came == DOCTOR_WORKED ? "it was possible" : tried->note);
        if (tried->is_untold)
            return laz_strdupf("does not work: %s: it was refused, and the result does not say so",
                               act->name);
    }
    return NULL;
}

int doctor_network_try(struct laz_doctor *doctor, struct doctor_backend *backend,
                       struct laz_error *err)
{
    struct laz_buf allow = LAZ_BUF_INIT;
    struct doctor_session session;
    struct laz_error why = {0};

    laz_buf_printf(&allow,
                   "[\"" DOCTOR_LISTED ":%u\", \"http://" DOCTOR_WEB ":%u\", \"https://" DOCTOR_TLS
                   ":%u\", \"" NETWORK_SECOND ":%u\"]",
                   doctor->bait.port, doctor->bait.port, doctor->bait.port, doctor->bait.other);
    const char *const pairs[] = {
        "sandbox.backend", backend->name, "network.allow", laz_buf_text(&allow), "network.hosts",
        NETWORK_HOSTS,     NULL};
    doctor->options.progress(doctor->options.user, backend->name, "a network list");
    int rc = doctor_session_open(doctor, pairs, &doctor_acting, &session, &why);
    backend->list_tried = true;
    if (!rc || rc == LAZ_ETIMEOUT) { /* then each act is noted as late */
        rc = doctor_acts_try(doctor, backend, &session, false, true, err);
        backend->list_problem = doctor_network_problem(backend);
    } else if (rc == LAZ_ECANCELLED) {
        *err = why;
    } else {
        backend->list_problem = doctor_problem(&why);
        rc = backend->list_problem ? 0 : laz_error_nomem(err);
    }
    doctor_session_close(&session);
    laz_buf_fini(&allow);
    return rc;
}
