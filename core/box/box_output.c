/* SPDX-License-Identifier: MIT */
/* box_output.c - what the processes of a box print: read, delivered, paused, dropped.
 * Side: host.  Input trusted: no (bytes of any process in the box). */
#include "box/box_private.h"

#include "os/descriptors.h"
#include "os/io.h"

#define OUTPUT_READ      ((size_t)64 << 10) /* bytes read at once */
#define OUTPUT_COMPLAINT ((size_t)8 << 10)  /* kept of a start's standard error, to explain it */
#define OUTPUT_MAX_DRAIN ((size_t)64 << 20) /* of one stream, in one go */
#define OUTPUT_STALE     ((size_t)1 << 20)  /* dropped of a stream: what a pipe may hold, pipe(7) */

static void output_close(struct laz_box *box, int stream)
{
    laz_io_stop(box->output_io[stream]);
    box->output_io[stream] = NULL;
    laz_os_close(&box->output[stream]);
}

/* Reads one stream, or pauses that. */
static void output_hear(struct laz_box *box, int stream, bool heard)
{
    box->unheard[stream] = !heard;
    if (laz_io_events(box->output_io[stream], heard ? LAZ_IO_READ : 0))
        return;
    output_close(box, stream);
    laz_box_break(box, LAZ_EOS, "its output cannot be watched");
}

/* Reads one stream until nothing is there, at most `most` bytes. */
static void output_read(struct laz_box *box, int stream, size_t most)
{
    char data[16 << 10];
    size_t total = 0;

    while (total < most && box->output[stream] >= 0) {
        ssize_t n = laz_os_read(box->output[stream], data, sizeof data);
        if (n == 0)
            return;
        if (n < 0) {
            output_close(box, stream);
            return;
        }
        total += (size_t)n;
        if (!laz_box_was_up(box) && stream == LAZ_STDERR && box->complaint.len < OUTPUT_COMPLAINT)
            laz_buf_append(&box->complaint, data, (size_t)n);
        if (box->owner.output && !box->owner.output(box->owner.user, stream, data, (size_t)n) &&
            box->output_io[stream]) {
            output_hear(box, stream, false);
            return;
        }
        if ((size_t)n < sizeof data)
            return; /* a pipe that had more would have filled the buffer */
    }
}

static void output_stdout_ready(void *user, uint32_t events)
{
    (void)events;
    output_read(user, LAZ_STDOUT, OUTPUT_READ);
}

static void output_stderr_ready(void *user, uint32_t events)
{
    (void)events;
    output_read(user, LAZ_STDERR, OUTPUT_READ);
}

void laz_box_hear(struct laz_box *box, bool keeps)
{
    char data[16 << 10];

    for (int stream = 1; stream <= 2; stream++) {
        if (!box->unheard[stream] || box->output[stream] < 0)
            continue;
        for (size_t total = 0; total < OUTPUT_STALE && !keeps;) {
            ssize_t n = laz_os_read(box->output[stream], data, sizeof data);
            if (n <= 0)
                break; /* the loop reports an end */
            total += (size_t)n;
        }
        output_hear(box, stream, true);
    }
}

void laz_box_drain(struct laz_box *box)
{
    output_read(box, LAZ_STDOUT, OUTPUT_MAX_DRAIN);
    output_read(box, LAZ_STDERR, OUTPUT_MAX_DRAIN);
}

bool laz_box_watch_output(struct laz_box *box)
{
    static void (*const ready[])(void *user, uint32_t events) = {NULL, output_stdout_ready,
                                                                 output_stderr_ready};
    bool is_watched = true;

    for (int stream = LAZ_STDOUT; stream <= LAZ_STDERR; stream++) {
        if (box->output[stream] < 0)
            continue; /* it is lent by somebody who reads it */
        box->output_io[stream] = laz_io_start(box->shared->driver->loop, box->output[stream],
                                              LAZ_IO_READ, ready[stream], box);
        is_watched &= box->output_io[stream] != NULL;
    }
    return is_watched;
}

void laz_box_close_output(struct laz_box *box)
{
    output_close(box, LAZ_STDOUT);
    output_close(box, LAZ_STDERR);
}
