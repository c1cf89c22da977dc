/* SPDX-License-Identifier: MIT */
/* requests.c - the requests that a caller has open on a link, each of which ends once.
 * Side: host.  Input trusted: no (ids of answers are the worker's).
 *
 * They end with an answer or with the link, whichever comes first. Nothing is sent again: after the
 * end of its link the table takes no request, and a new link begins with a table of its own. */
#include "carrier/carrier.h"

#include <stdlib.h>

static size_t requests_find(const struct laz_requests *requests, int64_t id)
{
    size_t i = 0;

    while (i < requests->n && requests->items[i].id != id)
        i++;
    return i;
}

int laz_requests_add(struct laz_requests *requests, const struct laz_open_request *request,
                     struct laz_error *err)
{
    if (requests->is_over)
        return laz_error_set(err, LAZ_ECLOSED, 0, "the link to the worker has ended");
    if (requests_find(requests, request->id) < requests->n)
        return laz_error_set(err, LAZ_EBUSY, 0, "a request with the id %lld is open",
                             (long long)request->id);
    if (requests->n == LAZ_REQUESTS_MOST)
        return laz_error_set(err, LAZ_EREFUSED, 0, "%d requests are open, which is the most",
                             LAZ_REQUESTS_MOST);
    if (requests->n == requests->cap) {
        const size_t cap = requests->cap ? requests->cap * 2 : 4;
        struct laz_open_request *items = realloc(requests->items, cap * sizeof *items);
        if (!items)
            return laz_error_nomem(err);
        requests->items = items;
        requests->cap = cap;
    }
    requests->items[requests->n++] = *request;
    return 0;
}

bool laz_requests_take(struct laz_requests *requests, int64_t id, struct laz_open_request *request)
{
    const size_t i = requests_find(requests, id);

    if (i == requests->n) {
        requests->n_late++;
        return false;
    }
    *request = requests->items[i];
    requests->items[i] = requests->items[--requests->n];
    return true;
}

bool laz_requests_end(struct laz_requests *requests, struct laz_open_request *request)
{
    requests->is_over = true;
    if (!requests->n)
        return false;
    *request = requests->items[--requests->n];
    return true;
}

void laz_requests_fini(struct laz_requests *requests)
{
    free(requests->items);
    *requests = (struct laz_requests){.is_over = true};
}
