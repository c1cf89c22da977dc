/* SPDX-License-Identifier: MIT */
/* group_call.c - one execution that a group was asked for: what it copies, how it begins and ends.
 * Side: host.  Input trusted: yes (the application).
 *
 * The caller's thread copies everything, since the engine's thread begins the execution when the
 * caller may have returned. */
#include "group/group.h"

#include "base/options.h"
#include "session/result.h"

#include <stdlib.h>
#include <string.h>

/* ---- copies --------------------------------------------------------------------------------- */

/* A tool of the session. */
struct group_tool {
    struct laz_session_tool tool;
    struct laz_tool declared;
    char *name, *description, *parameters;
};

/* Copies a text; NULL stays NULL. */
static int call_copy(const char *given, char **copy, const char **kept, struct laz_error *err)
{
    *copy = laz_strdup(given);
    *kept = *copy;
    return given && !*copy ? laz_error_nomem(err) : 0;
}

static int call_copy_tool(const struct laz_session_tool *given, struct group_tool *copy,
                          struct laz_error *err)
{
    struct laz_tool *declared = &copy->declared;

    int rc = LAZ_OPTIONS_TAKE(&copy->tool, given, laz_session_tool, err);
    if (rc || !copy->tool.tool)
        return rc; /* the engine says what is missing */
    rc = LAZ_OPTIONS_TAKE(declared, copy->tool.tool, laz_tool, err);
    if (!rc)
        rc = call_copy(declared->name, &copy->name, &declared->name, err);
    if (!rc)
        rc = call_copy(declared->description, &copy->description, &declared->description, err);
    if (!rc)
        rc = call_copy(declared->parameters, &copy->parameters, &declared->parameters, err);
    copy->tool.size = sizeof copy->tool;
    declared->size = sizeof *declared;
    copy->tool.tool = declared;
    return rc;
}

static int call_copy_tools(struct group_call *call, struct laz_error *err)
{
    struct laz_session_options *session = &call->session;
    int rc = 0;

    if (!session->n_tools)
        return 0;
    if (!session->tools)
        return laz_error_null(err, "the tools of the session");
    call->tools = calloc(session->n_tools, sizeof *call->tools);
    call->tool_pointers = calloc(session->n_tools, sizeof(struct laz_session_tool *));
    if (!call->tools || !call->tool_pointers)
        return laz_error_nomem(err);
    call->n_tools = session->n_tools;
    for (size_t i = 0; i < session->n_tools && !rc; i++) {
        if (!session->tools[i])
            return laz_error_null(err, "a tool of the session");
        rc = call_copy_tool(session->tools[i], &call->tools[i], err);
        call->tool_pointers[i] = &call->tools[i].tool;
    }
    session->tools = call->tool_pointers;
    return rc;
}

int group_call_take_session(struct group_call *call, const struct laz_session_options *given,
                            struct laz_error *err)
{
    struct laz_session_options *session = &call->session;

    int rc = LAZ_OPTIONS_TAKE(session, given, laz_session_options, err);
    if (rc)
        return rc;
    session->size = sizeof *session;
    if (session->input) {
        call->input = *session->input;
        session->input = &call->input;
    }
    rc = call_copy(session->runtime, &call->runtime, &session->runtime, err);
    return rc ? rc : call_copy_tools(call, err);
}

int group_call_new(struct laz_group *group, const char *code, size_t len,
                   const struct laz_execute_options *options,
                   void (*done)(void *user, struct laz_result *result, const struct laz_error *err),
                   void *user, struct group_call **out, struct laz_error *err)
{
    if (!code || !done)
        return laz_error_set(err, LAZ_EINVAL, 0, "code and a callback for its result are required");
    struct group_call *call = *out = calloc(1, sizeof *call);
    if (!call)
        return laz_error_nomem(err);
    call->cancels = atomic_load(&group->cancels);
    call->done = done;
    call->user = user;
    call->len = len == SIZE_MAX ? strlen(code) : len;
    call->code = laz_strndup(code, call->len);
    return call->code ? laz_execute_copy_take(&call->given, options, err) : laz_error_nomem(err);
}

void group_call_free(struct group_call *call)
{
    if (!call)
        return;
    for (size_t i = 0; i < call->n_tools; i++) {
        free(call->tools[i].name);
        free(call->tools[i].description);
        free(call->tools[i].parameters);
    }
    free(call->tools);
    free(call->tool_pointers);
    free(call->runtime);
    laz_execute_copy_fini(&call->given);
    free(call->code);
    free(call);
}

/* ---- from its begin to its report ------------------------------------------------------------ */

bool group_call_is_cancelled(const struct group_call *call, const struct laz_group *group)
{
    return call->cancels != atomic_load(&group->cancels);
}

void group_call_report(struct group_call *call, struct laz_result *result,
                       const struct laz_error *err)
{
    void (*done)(void *, struct laz_result *, const struct laz_error *) = call->done;
    void *user = call->user;

    group_call_free(call);
    done(user, result, err);
}

/* Errors that every engine would give. */
static bool call_is_wrong(int code)
{
    return code == LAZ_EINVAL || code == LAZ_ENOENT || code == LAZ_ECONFIG || code == LAZ_ETOOBIG ||
           code == LAZ_ECANCELLED || code == LAZ_ECLOSED;
}

static enum group_start call_shows(const struct laz_result *result, const struct laz_error *err)
{
    const enum laz_verdict verdict = laz_result_verdict(result);

    if (!result)
        return call_is_wrong(err->code) ? GROUP_START_UNKNOWN : GROUP_START_FAILED;
    if (verdict == LAZ_VERDICT_CANCELLED || verdict == LAZ_VERDICT_BLOCKED)
        return GROUP_START_UNKNOWN;
    return verdict == LAZ_VERDICT_SETUP_FAILED ? GROUP_START_FAILED : GROUP_START_GOOD;
}

static void call_ended(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct group_call *call = user;

    group_lane_done(call->lane, call_shows(result, err));
    group_call_report(call, result, err);
}

void group_call_has_begun(const struct group_call *call, struct laz_session *session)
{
    if (group_call_is_cancelled(call, call->lane->group))
        laz_session_cancel(session);
}

static int call_start(struct group_call *call, struct laz_error *err)
{
    struct laz_group *group = call->lane->group;
    struct laz_session *session;

    if (atomic_load(&group->closed))
        return group_is_closed(err);
    if (!group_call_is_cancelled(call, group)) {
        int rc =
            laz_sessions_execute(&call->lane->engine->sessions, &call->session, call->code,
                                 call->len, &call->given.options, call_ended, call, &session, err);
        if (!rc)
            group_call_has_begun(call, session);
        return rc;
    }
    struct laz_result *result = laz_result_not_started(LAZ_ECANCELLED, "cancelled");
    if (!result)
        return laz_error_nomem(err);
    call_ended(call, result, NULL);
    return 0;
}

void group_call_begin(struct group_call *call)
{
    struct laz_driver *driver = &call->lane->engine->driver;
    struct laz_error why = {0};

    laz_driver_begin_callback(driver);
    if (call_start(call, &why))
        call_ended(call, NULL, &why);
    laz_driver_end_callback(driver);
}

/* ---- callers that wait ----------------------------------------------------------------------- */

void group_caller_told(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct group_caller *caller = user;

    caller->result = result;
    if (err)
        caller->err = *err;
    group_wait_over(&caller->wait);
}

int group_caller_wait(struct group_caller *caller, int rc, struct laz_result **result,
                      struct laz_error *err)
{
    if (rc)
        group_wait_over(&caller->wait);
    group_wait(&caller->wait);
    if (rc)
        return rc;
    *result = caller->result;
    if (caller->err.code && err)
        *err = caller->err;
    return caller->err.code;
}
