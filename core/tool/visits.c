/* SPDX-License-Identifier: MIT */
/* visits.c - which sessions have called which providers, so that a provider hears of the end of
 * each session that has used it. Side: host.  Input trusted: yes.
 *
 * A provider frees what it keeps for a session when it hears of its end, so it hears only after the
 * last call of that session was answered and has returned, also where it was abandoned: each call
 * holds the visit that it belongs to.  A visit is made before the call is, so no shortage of memory
 * can lose the news. */
#include "tool/tool_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool laz_visit_begin(const struct laz_provider *provider, const struct laz_caller *caller,
                     struct laz_visit **out)
{
    struct laz_tools *tools = provider->tools;

    *out = NULL;
    if (!LAZ_HAS(provider->ops, session_closed))
        return true;
    for (struct laz_visit *at = tools->visits; at && !*out; at = at->next)
        if (at->provider == provider && !at->is_over && strcmp(at->session, caller->session) == 0)
            *out = at;
    if (!*out && (*out = calloc(1, sizeof **out))) {
        **out = (struct laz_visit){
            .next = tools->visits, .provider = provider, .session_user = caller->session_user};
        snprintf((*out)->session, sizeof(*out)->session, "%s", caller->session);
        tools->visits = *out;
    }
    if (*out)
        (*out)->open++;
    return *out != NULL;
}

static void visit_free(struct laz_visit *visit)
{
    struct laz_visit **at = &visit->provider->tools->visits;

    while (*at != visit)
        at = &(*at)->next;
    *at = visit->next;
    free(visit);
}

/* It is over, and no call of it is open. */
static void visit_tell(struct laz_visit *visit)
{
    const struct laz_provider *provider = visit->provider;
    struct laz_visit told = *visit;

    visit_free(visit); /* the provider may make the loop go on */
    const struct laz_caller who = {
        .size = sizeof who, .session = told.session, .session_user = told.session_user};
    if (told.was_used)
        provider->ops->session_closed(provider->state, &who);
}

void laz_visit_end(struct laz_visit *visit)
{
    if (visit && --visit->open == 0 && visit->is_over)
        visit_tell(visit);
}

void laz_tools_session_closed(struct laz_tools *tools, const char *session)
{
    struct laz_visit *visit = tools->visits;

    while (visit) {
        struct laz_visit *next = visit->next;
        if (!visit->is_over && strcmp(visit->session, session) == 0) {
            visit->is_over = true;
            if (!visit->open) {
                visit_tell(visit);
                next = tools->visits; /* the provider was called: the list may be another one */
            }
        }
        visit = next;
    }
}

void laz_visits_free(struct laz_tools *tools)
{
    for (struct laz_visit *visit = tools->visits, *next; visit; visit = next) {
        next = visit->next;
        free(visit);
    }
    tools->visits = NULL;
}
