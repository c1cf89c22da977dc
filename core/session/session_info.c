/* SPDX-License-Identifier: MIT */
/* session_info.c - what a session is, and the two ways in which its parts report to it: an event of
 * its state, and a request to be advanced after this turn of the loop. */
#include "session/execution.h"

#include <stdio.h>
#include <string.h>

void laz_session_stir(struct laz_session *session)
{
    laz_driver_stir(session->shared->driver, &session->stir);
}

void laz_session_note(struct laz_session *session)
{
    atomic_store(&session->noted_pid, session->box ? session->box->process.pid : -1);
    atomic_store(&session->noted_alive, session->box || session->start.is_choosing ||
                                            session->state == LAZ_SESSION_RESTARTING);
}

bool laz_session_event(struct laz_session *session, enum laz_session_event event)
{
    const bool is_legal =
        laz_session_step(&session->state, event, &session->shared->driver->log, session->id);

    laz_session_note(session);
    return is_legal;
}

int64_t laz_session_pid(const struct laz_session *session)
{
    if (!session)
        return -1;
    if (!laz_driver_is_here(session->shared->driver))
        return atomic_load(&session->noted_pid);
    return session->box ? session->box->process.pid : -1;
}

uint32_t laz_session_uid(const struct laz_session *session)
{
    return session->box ? session->box->uid : LAZ_SPAWN_SAME_ID;
}

const char *laz_session_id(const struct laz_session *session)
{
    return session ? session->id : NULL;
}

const char *laz_session_tools(const struct laz_session *session)
{
    return session ? session->tools_json : NULL;
}

int laz_session_search_tools(struct laz_session *session, const char *words, size_t limit,
                             const char **found, struct laz_error *err)
{
    if (!session || !words || !found)
        return laz_error_null(err, !session ? "the session"
                                   : words  ? "the pointer for the tools"
                                            : "the words");
    const struct laz_tools *tools = session->shared->tools;
    struct laz_buf *room = laz_found_room(tools->found, session);
    *found = NULL;
    if (!room)
        return laz_error_nomem(err);
    laz_found_read(tools->found);
    const struct laz_tool_set shared = {.entries = tools->set.entries, .n = session->n_shared};
    int rc = laz_tool_set_search_json(&shared, session->own_tools,
                                      laz_spelling_of(&tools->spellings, session->runtime->name),
                                      words, limit, room, err);
    laz_found_leave(tools->found);
    *found = rc ? NULL : laz_buf_text(room);
    return rc;
}

bool laz_session_is_far(const struct laz_session *session)
{
    return session->shared->values->session.where == LAZ_WHERE_CLUSTER;
}

size_t laz_session_n_tools(const struct laz_session *session)
{
    return session->n_shared + (session->own_tools ? session->own_tools->n : 0);
}

const char *laz_session_isolation_text(const struct laz_session *session)
{
    return session->isolation ? session->isolation : "null";
}

const char *laz_session_isolation(const struct laz_session *session)
{
    bool entered;

    if (!session || laz_driver_visit(session->shared->driver, &entered, NULL))
        return NULL;
    const char *isolation = laz_session_isolation_text(session);
    laz_driver_end_visit(session->shared->driver, entered);
    return isolation;
}

bool laz_session_mark_result(const struct laz_session *session, struct laz_result *result)
{
    memcpy(result->session, session->id, sizeof session->id);
    memcpy(result->backend, session->backend, sizeof session->backend);
    result->enforces = session->enforces;
    result->isolation = laz_strdup(laz_session_isolation_text(session));
    return result->isolation;
}

const char *laz_session_activity(unsigned executing)
{
    static const char *const words[] = {
        [LAZ_ASKED_EXECUTE] = "an execution is in progress",
        [LAZ_ASKED_CHECK] = "code is being checked",
        [LAZ_ASKED_PUT] = "a file is being put",
        [LAZ_ASKED_REMOVE] = "a file is being removed",
    };

    return words[executing - 1];
}

static void session_describe(const struct laz_session *session)
{
    enum laz_session_state state = session->state;
    const struct laz_plan *plan = session->box ? session->box->plan : NULL;
    const char *backend = plan                          ? plan->backend
                          : laz_session_is_far(session) ? session->backend
                                                        : session->shared->boxes->choice.name;
    const char *where = laz_session_is_far(session) ? " where=cluster" : "";
    char pid[24] = "none";

    /* The outcome may have come before the last of the output: to who asks it still runs. */
    if (state == LAZ_SESSION_IDLE && atomic_load(&session->executing))
        state = LAZ_SESSION_RUNNING;
    if (session->start.is_choosing)
        state = LAZ_SESSION_STARTING;
    if (session->box && !laz_session_is_far(session))
        snprintf(pid, sizeof pid, "%lld", (long long)session->box->process.pid);
    snprintf(session->description, LAZ_DESCRIPTION_SIZE,
             "<session %s [%s] pid=%s backend=%s tools=%zu%s%s>", session->runtime->name,
             laz_session_state_name(state), pid, backend && *backend ? backend : "none",
             laz_session_n_tools(session), session->has_network ? " network=listed" : "", where);
}

const char *laz_session_describe(const struct laz_session *session)
{
    bool entered;

    if (!session)
        return NULL;
    if (laz_driver_visit(session->shared->driver, &entered, NULL))
        return session->in_use;
    session_describe(session);
    laz_driver_end_visit(session->shared->driver, entered);
    return session->description;
}
