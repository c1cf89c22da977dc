/* SPDX-License-Identifier: MIT */
/* http.c - the requests of one HTTP/1 connection, one after the other.
 * Side: host.  Input trusted: no.
 *
 * Every request is judged (http_head.c), not only the first one: a client that keeps its connection
 * may ask for another host in the next.  So each end of a request has to be known exactly, and what
 * is not known to be right is refused.  A head is forwarded when all of it was judged; the lines of
 * a chunked body one by one. */
#include "network/network_private.h"

#include <string.h>

void network_http_begin(struct network_http *http, const char *name, uint16_t port)
{
    *http = (struct network_http){.name = name, .port = port, .is_first = true};
}

/* Judges a piece that is complete. NULL, or why it is refused. */
static const char *http_judge(struct network_http *http, enum laz_http_part part, const char *data,
                              size_t n)
{
    const char *why = NULL;

    if (part == LAZ_HTTP_TRAILER && n > 2)
        return laz_http_trailer((struct laz_http_text){data, n - 2});
    if (part != LAZ_HTTP_HEAD || (why = network_http_judge(http, data, n)))
        return why;
    http->is_first = false;
    http->waits = http->wants_upgrade;
    laz_http_follow(&http->stream, http->is_chunked, http->left);
    return NULL;
}

/* How many bytes are forwarded; 0: none until more have come, or it was refused. */
static size_t http_step(struct network_http *http, const char *data, size_t len)
{
    const enum laz_http_part part = http->stream.part;

    if (part == LAZ_HTTP_HEAD && http->waits)
        return 0;
    const size_t n = laz_http_piece(&http->stream, data, len);
    const char *why = n ? http_judge(http, part, data, n) : http->stream.why;
    if (!why)
        return n;
    http->why = why;
    return laz_http_refuse(&http->stream, why);
}

size_t network_http_feed(struct network_http *http, const char *data, size_t len,
                         enum network_http_state *state)
{
    size_t done = 0, n;

    while (done < len && (n = http_step(http, data + done, len - done)))
        done += n;
    const bool is_refused = http->stream.part == LAZ_HTTP_REFUSED;
    *state = is_refused    ? NETWORK_HTTP_REFUSED
             : http->waits ? NETWORK_HTTP_UPGRADE
                           : NETWORK_HTTP_FORWARD;
    return is_refused ? 0 : done;
}

/* ---- what the server says to an upgrade ------------------------------------------------------ */

static enum network_http_status http_ordinary(struct network_http *http)
{
    http->waits = false;
    return NETWORK_HTTP_ORDINARY;
}

/* Its status line is there up to the code. */
static enum network_http_status http_answered(struct network_http *http)
{
    static const char form[] = "HTTP/1.";
    const char *code = http->status + 9;

    if (memcmp(http->status, form, sizeof form - 1) != 0 || http->status[8] != ' ' ||
        code[0] != '1')
        return http_ordinary(http);
    if (memcmp(code, "101", 3) != 0)
        return NETWORK_HTTP_MORE; /* an interim answer: another one follows */
    http->waits = false;
    if (!http->may_upgrade || http->stream.part != LAZ_HTTP_HEAD) {
        http->why = "the server changed to a protocol in which requests cannot be judged";
        laz_http_refuse(&http->stream, http->why);
        return NETWORK_HTTP_WRONG;
    }
    http->stream.part = LAZ_HTTP_REST;
    return NETWORK_HTTP_SWITCHED;
}

enum network_http_status network_http_status(struct network_http *http, const char *data,
                                             size_t len)
{
    if (!http->waits)
        return NETWORK_HTTP_ORDINARY;
    for (size_t i = 0; i < len; i++) {
        if (http->n_status < sizeof http->status) {
            http->status[http->n_status++] = data[i];
            http->blank = 0;
            if (http->n_status == sizeof http->status) {
                enum network_http_status said = http_answered(http);
                if (said != NETWORK_HTTP_MORE)
                    return said;
            }
            continue;
        }
        if (data[i] == '\n')
            http->blank++;
        else if (data[i] != '\r')
            http->blank = 0;
        if (http->blank == 2)
            http->n_status = 0;
    }
    return NETWORK_HTTP_MORE;
}
