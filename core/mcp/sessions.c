/* SPDX-License-Identifier: MIT */
/* sessions.c - sessions that a client opens, or a connection has for itself, which expire when
 * nothing uses them, and sessions that are used once.
 * Side: host.  Input trusted: no (of the client).
 *
 * A pool of one session of the usual runtime is kept, out of which the next request takes it: a box
 * that has started.  What has expired is freed between two steps of the engine, never by a timer.
 */
#include "mcp/mcp_private.h"

#include <stdlib.h>
#include <string.h>

struct laz_pool *mcp_session_ready(const struct laz_mcp *mcp, const char *runtime)
{
    return runtime &&
                   strcmp(runtime, laz_registry_usual_name(mcp->engine->registry, mcp->values)) != 0
               ? NULL
               : mcp->ready;
}

/* A session that nothing was executed in. */
static int session_fresh(struct laz_mcp *mcp, const char *runtime, struct laz_session **session,
                         struct laz_error *err)
{
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = runtime, .no_wait = 1, .warm = 1};
    struct laz_pool *ready = mcp_session_ready(mcp, runtime);
    int rc = ready ? laz_driver_enter(&mcp->engine->driver, err) : 0;

    *session = NULL;
    if (ready && !rc) {
        *session = laz_pool_take(ready);
        laz_driver_leave(&mcp->engine->driver);
    }
    return rc || *session ? rc : laz_session_open(mcp->engine, &options, session, err);
}

int mcp_session_may_be(const struct laz_mcp *mcp, struct laz_error *err)
{
    const uint64_t most = mcp->values->pool.max_sessions;

    return most && mcp->n_sessions >= most
               ? laz_error_set(err, LAZ_EREFUSED, 0,
                               "%llu sessions are in use (pool.max_sessions): close one, or wait "
                               "for the end of an execution",
                               (unsigned long long)most)
               : 0;
}

int mcp_session_open(struct laz_mcp *mcp, const char *runtime, struct mcp_session **out,
                     struct laz_error *err)
{
    struct mcp_session *session = calloc(1, sizeof *session);
    int rc = session ? mcp_session_may_be(mcp, err) : laz_error_nomem(err);

    if (!rc &&
        !(session->runtime = laz_strdup(
              runtime ? runtime : laz_registry_usual_name(mcp->engine->registry, mcp->values))))
        rc = laz_error_nomem(err);
    if (!rc)
        rc = session_fresh(mcp, runtime, &session->session, err);
    if (rc) {
        if (session)
            free(session->runtime);
        free(session);
        return rc;
    }
    session->mcp = mcp;
    session->number = ++mcp->last_number;
    session->used_ms = laz_loop_now_ms(mcp->loop);
    session->next = mcp->sessions;
    mcp->sessions = session;
    mcp->n_sessions++;
    *out = session;
    return 0;
}

struct mcp_session *mcp_session_find_own(const struct mcp_peer *peer, const char *runtime)
{
    const char *name =
        runtime ? runtime : laz_registry_usual_name(peer->mcp->engine->registry, peer->mcp->values);
    struct mcp_session *session = peer->mcp->sessions;

    while (session && (session->of != peer || strcmp(session->runtime, name) != 0))
        session = session->next;
    return session;
}

int mcp_session_own(struct mcp_peer *peer, const char *runtime, struct mcp_session **out,
                    struct laz_error *err)
{
    struct laz_mcp *mcp = peer->mcp;
    struct mcp_session *session = *out = mcp_session_find_own(peer, runtime);

    if (session && session->session)
        return 0;
    int rc =
        !session ? mcp_session_open(mcp, runtime, &session, err) : mcp_session_may_be(mcp, err);
    if (!rc && !session->session) {
        rc = session_fresh(mcp, runtime, &session->session, err);
        session->used_ms = laz_loop_now_ms(mcp->loop);
        mcp->n_sessions += !rc;
    }
    if (!rc)
        session->of = peer;
    *out = session;
    return rc;
}

void mcp_sessions_gone(struct laz_mcp *mcp, const struct mcp_peer *peer)
{
    for (struct mcp_session *session = mcp->sessions, *next; session; session = next) {
        next = session->next;
        if (session->of == peer)
            mcp_session_free(session);
    }
}

int mcp_session_restart(struct mcp_session *session, struct laz_error *err)
{
    struct laz_session *old = session->session;

    session->has_expired = false;
    if (!old) /* the next execution opens one */
        return 0;
    int rc = session_fresh(session->mcp, session->runtime, &session->session, err);

    if (rc)
        session->session = old;
    else
        laz_session_free(old); /* what it executes is answered in here */
    session->used_ms = laz_loop_now_ms(session->mcp->loop);
    return rc;
}

struct mcp_session *mcp_session_find(struct laz_mcp *mcp, const char *handle, struct laz_error *err)
{
    const int64_t number = mcp_handle_number(mcp, MCP_OF_SESSION, handle);
    struct mcp_session *session = mcp->sessions;

    while (session && session->number != number)
        session = session->next;
    if (!number)
        laz_error_set(err, LAZ_ENOENT, 0,
                      "'session' is not a session of this server: open_session gives one");
    else if (!session)
        laz_error_set(err, LAZ_ECLOSED, 0,
                      "this session is over: it was closed, or it has expired because nothing used "
                      "it for %llu seconds; its variables are gone, and open_session gives another",
                      (unsigned long long)(mcp->values->mcp.session_timeout_ms / 1000));
    return session;
}

void mcp_session_free(struct mcp_session *session)
{
    LAZ_LIST_REMOVE(session->mcp->sessions, session);
    session->mcp->n_sessions -= session->session != NULL;
    laz_session_free(session->session); /* what it executes is answered in here, and left it */
    free(session->runtime);
    free(session);
}

/* ---- expiry --------------------------------------------------------------------------------- */

/* Who uses a handle of one that is gone is told so; of that of a connection it is kept that it was.
 */
static void session_expire(struct mcp_session *session)
{
    if (!session->of) {
        mcp_session_free(session);
        return;
    }
    laz_session_free(session->session);
    session->session = NULL;
    session->has_expired = true;
    session->mcp->n_sessions--;
}

uint64_t mcp_sessions_tend(struct laz_mcp *mcp)
{
    const uint64_t timeout = mcp->values->mcp.session_timeout_ms, now = laz_loop_now_ms(mcp->loop);
    const struct laz_pool_options one = {.size = sizeof one, .members = 1, .no_wait = 1};
    uint64_t soonest = UINT64_MAX;

    for (struct mcp_session *session = mcp->sessions, *next; timeout && session; session = next) {
        next = session->next;
        const uint64_t idle = session->running ? 0 : now - session->used_ms;
        if (!session->session)
            continue;
        if (idle >= timeout)
            session_expire(session);
        else if (!session->running && timeout - idle < soonest)
            soonest = timeout - idle;
    }
    if (!mcp->ready && mcp->values->pool.warm != LAZ_WARM_COLD && !mcp->is_over &&
        !mcp->has_no_ready)
        mcp->has_no_ready = laz_pool_new(mcp->engine, &one, &mcp->ready, NULL) != 0;
    return soonest;
}

void mcp_sessions_end(struct laz_mcp *mcp)
{
    while (mcp->sessions)
        mcp_session_free(mcp->sessions);
    laz_pool_free(mcp->ready);
    mcp->ready = NULL;
}
