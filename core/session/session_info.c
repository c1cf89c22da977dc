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

bool laz_session_event(struct laz_session *session, enum laz_session_event event)
{
    return laz_session_step(&session->state, event, &session->shared->driver->log, session->id);
}

int64_t laz_session_pid(const struct laz_session *session)
{
    return session && session->box ? session->box->process.pid : -1;
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
                                   : words  ? "the place for the tools"
                                            : "the words");
    const struct laz_tools *tools = session->shared->tools;
    const struct laz_tool_set shared = {.entries = tools->set.entries, .n = session->n_shared};
    int rc = laz_tool_set_search_json(&shared, session->own_tools,
                                      laz_spelling_of(&tools->spellings, session->runtime->name),
                                      words, limit, &session->found, err);
    *found = rc ? NULL : laz_buf_text(&session->found);
    return rc;
}

size_t laz_session_n_tools(const struct laz_session *session)
{
    return session->n_shared + (session->own_tools ? session->own_tools->n : 0);
}

const char *laz_session_isolation(const struct laz_session *session)
{
    if (!session)
        return NULL;
    return session->isolation ? session->isolation : "null";
}

bool laz_session_mark_result(const struct laz_session *session, struct laz_result *result)
{
    memcpy(result->session, session->id, sizeof session->id);
    memcpy(result->backend, session->backend, sizeof session->backend);
    result->enforces = session->enforces;
    result->isolation = laz_strdup(laz_session_isolation(session));
    return result->isolation;
}

const char *laz_session_activity(unsigned executing)
{
    static const char *const words[] = {
        [LAZ_ASKED_EXECUTE] = "an execution is in progress",
        [LAZ_ASKED_CHECK] = "code is being checked",
        [LAZ_ASKED_PUT] = "a file is being put",
    };

    return words[executing - 1];
}

const char *laz_session_describe(const struct laz_session *session)
{
    char pid[24] = "none";

    if (!session)
        return NULL;
    enum laz_session_state state = session->state;
    const struct laz_plan *plan = session->box ? session->box->plan : NULL;
    const char *backend = plan ? plan->backend : session->shared->boxes->choice.name;

    /* The outcome may have come before the last of the output: to who asks it still runs. */
    if (state == LAZ_SESSION_IDLE && atomic_load(&session->executing))
        state = LAZ_SESSION_RUNNING;
    if (session->start.is_choosing)
        state = LAZ_SESSION_STARTING;
    if (session->box)
        snprintf(pid, sizeof pid, "%lld", (long long)session->box->process.pid);
    snprintf(session->description, LAZ_DESCRIPTION_SIZE,
             "<session %s [%s] pid=%s backend=%s tools=%zu>", session->runtime->name,
             laz_session_state_name(state), pid, backend ? backend : "none",
             laz_session_n_tools(session));
    return session->description;
}
