/* SPDX-License-Identifier: MIT */
/* fuzz_carrier.c - what somebody sends over a carrier, on any bytes: a frame that is accepted is
 * within its bounds, and made again it is the same; a link that gets frame after frame hands out no
 * line that is too long, holds no more than it may, and ends once.
 *
 * The bytes are frames, each behind its length in two bytes. */
#include "carrier/carrier.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_LINK "00112233445566778899aabbccddeeff"

static const struct laz_link_limits limits = {
    .part = 8, .window = 32, .max_line = 40, .most = 200, .keepalive_ms = 5000, .lease_ms = 15000};

static void must(bool held)
{
    if (!held)
        abort();
}

static void check_made(const struct laz_carrier_frame *frame)
{
    struct laz_buf made = LAZ_BUF_INIT, again = LAZ_BUF_INIT;
    struct laz_carrier_frame second;

    laz_carrier_make(frame, &made);
    must(laz_carrier_parse(made.data, made.len, &second, NULL) == 0);
    must(second.kind == frame->kind && second.number == frame->number && second.len == frame->len);
    laz_carrier_make(&second, &again);
    must(made.len == again.len && memcmp(made.data, again.data, made.len) == 0);
    laz_buf_fini(&made);
    laz_buf_fini(&again);
}

static bool check_actions(struct laz_link *link, bool *has_ended)
{
    struct laz_link_action action;
    size_t n = 0;

    while (laz_link_next(link, 1, &action)) {
        must(!*has_ended && ++n < 100);
        must(action.type != LAZ_LINK_LINE || (action.len >= 1 && action.len <= limits.max_line));
        *has_ended = action.type == LAZ_LINK_END_IT;
    }
    must(laz_link_held(link) <= limits.max_line + limits.window);
    return *has_ended;
}

static void check_frame(struct laz_link *link, bool *has_ended, const char *bytes, size_t len)
{
    struct laz_link_event event = {.type = LAZ_LINK_ON_FRAME};
    struct laz_carrier_frame frame;
    struct laz_error err = {0};

    if (laz_carrier_parse(bytes, len, &frame, &err) == 0) {
        must(frame.kind < LAZ_CARRIER_KINDS && frame.len <= LAZ_CARRIER_PART);
        must(frame.kind != LAZ_CARRIER_LINE || (frame.len >= 1 && frame.part < frame.parts));
        check_made(&frame);
        event.frame = &frame;
    } else {
        must(err.code == LAZ_EPROTO && *err.text);
        event.type = LAZ_LINK_ON_NOISE;
    }
    laz_link_step(link, 1, &event);
    check_actions(link, has_ended);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    bool has_ended = false;
    struct laz_link link;

    laz_link_init(&link, &limits, size % 2, FUZZ_LINK, FUZZ_LINK, 0);
    while (size > 2) {
        size_t len = (size_t)(unsigned char)bytes[0] << 8 | (unsigned char)bytes[1];
        bytes += 2;
        size -= 2;
        len = len < size ? len : size;
        check_frame(&link, &has_ended, bytes, len);
        bytes += len;
        size -= len;
    }
    laz_link_fini(&link);
    return 0;
}
