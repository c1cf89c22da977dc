/* SPDX-License-Identifier: MIT */
/* fuzz_http_request.c - what a client of HTTP/1 sends, of any bytes. However it is cut, as many of
 * them are forwarded; and what is forwarded has no other Host than the rule's. */
#include "base/utf8.h"
#include "network/network_private.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Gives all of it in segments; the bytes that were forwarded, and the last state. */
static size_t feed(struct network_http *http, const char *data, size_t size, size_t segment,
                   enum network_http_state *state)
{
    size_t done = 0;

    *state = NETWORK_HTTP_FORWARD;
    for (size_t there = 0; there < size && *state != NETWORK_HTTP_REFUSED;) {
        there = size - there < segment ? size : there + segment;
        size_t n = network_http_feed(http, data + done, there - done, state);
        if (n > there - done)
            abort();
        done += n;
    }
    return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t segments[] = {1, 2, 7, 64};
    struct network_http http;
    enum network_http_state state, other;
    enum network_http_status status;

    network_http_begin(&http, "a.example", 80);
    size_t done = feed(&http, (const char *)data, size, size ? size : 1, &state);
    if (state == NETWORK_HTTP_REFUSED && (!http.why || !*http.why || done))
        abort();
    if (!laz_utf8_is_valid(http.host, strlen(http.host)) || strchr(http.host, '\n'))
        abort();
    for (size_t i = 0; i < sizeof segments / sizeof *segments; i++) {
        network_http_begin(&http, "a.example", 80);
        size_t n = feed(&http, (const char *)data, size, segments[i], &other);
        if (other != state || (state != NETWORK_HTTP_REFUSED && n != done))
            abort();
    }
    /* The same bytes as what a server says to an upgrade. */
    network_http_begin(&http, "a.example", 80);
    http.waits = http.may_upgrade = true;
    status = network_http_status(&http, (const char *)data, size);
    if (status == NETWORK_HTTP_SWITCHED && (size < 12 || memcmp(data, "HTTP/1.", 7) != 0))
        abort();
    return 0;
}
