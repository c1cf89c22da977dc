/* SPDX-License-Identifier: MIT */
/* listens.c - requests that listen (subscriptions/listen), which are answered at the end.
 * Side: host.  Input trusted: no (of the client). */
#include "mcp/mcp_private.h"

#include <stdlib.h>
#include <string.h>

static void listen_meta(const struct mcp_asked *asked, struct laz_json_write *write)
{
    laz_json_begin_object(write, "_meta");
    laz_json_add_raw(write, "io.modelcontextprotocol/subscriptionId", asked->id, strlen(asked->id));
    laz_json_end_object(write);
}

/* Nothing that a client could wait for changes here: it is told so, and the request stays open. */
void mcp_listen(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    struct mcp_listen *listen = NULL;
    struct laz_json_write write;

    (void)params;
    if (mcp->n_listens >= MCP_LISTENS)
        mcp_fail(asked, MCP_INTERNAL, "too many subscriptions are open");
    else if (!(listen = calloc(1, sizeof *listen)))
        mcp_fail(asked, MCP_INTERNAL, "out of memory");
    if (!listen)
        return;
    listen->asked = *asked;
    *asked = (struct mcp_asked){0};
    listen->next = mcp->listens;
    mcp->listens = listen;
    mcp->n_listens++;
    if (!mcp_tell_begin(listen->asked.out, NULL, "notifications/subscriptions/acknowledged",
                        &write))
        return;
    listen_meta(&listen->asked, &write);
    laz_json_begin_object(&write, "notifications");
    laz_json_end_object(&write);
    mcp_tell_end(listen->asked.out, &write);
}

struct mcp_listen *mcp_listen_find(const struct mcp_peer *peer, const char *id)
{
    struct mcp_listen *listen = peer->mcp->listens;

    while (listen && (listen->asked.peer != peer || strcmp(listen->asked.id, id) != 0))
        listen = listen->next;
    return listen;
}

void mcp_listen_free(struct mcp_listen *listen)
{
    struct laz_mcp *mcp = listen->asked.peer->mcp;

    LAZ_LIST_REMOVE(mcp->listens, listen);
    mcp->n_listens--;
    mcp_asked_fini(&listen->asked);
    free(listen);
}

void mcp_listens_gone(struct laz_mcp *mcp, const struct mcp_out *out)
{
    for (struct mcp_listen *listen = mcp->listens, *next; listen; listen = next) {
        next = listen->next;
        if (listen->asked.out == out)
            mcp_listen_free(listen);
    }
}

void mcp_listens_end(struct laz_mcp *mcp)
{
    struct laz_json_write write;

    for (; mcp->listens; mcp_listen_free(mcp->listens)) {
        struct mcp_asked *asked = &mcp->listens->asked;
        asked->era = MCP_LEGACY; /* its `_meta` is another one */
        if (!mcp_answer_begin(asked, "complete", &write))
            continue;
        laz_json_add_text(&write, "resultType", "complete");
        listen_meta(asked, &write);
        mcp_answer_end(asked, &write);
    }
}
