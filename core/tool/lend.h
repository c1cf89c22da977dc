/* SPDX-License-Identifier: MIT */
/* lend.h - the loop, lent to the thread that runs a tool.
 *
 * A tool may not run on the thread that drives the loop: that one is the application's, waits in
 * laz_session_execute, and has to return when a timeout is over, whatever the tool does.  But
 * waking one thread for the tool and another for its answer costs several times what a quick tool
 * does itself.  So the thread that waits lends the loop to the worker along with the call: the
 * worker runs the tool, hands the answer to the box, and awaits the next call there, all without a
 * change of threads.  A loan lasts LAZ_LEND_MS.  When it is over and the tool still runs, the owner
 * takes the loop back, and the answer comes to it as a post; else the worker brings it back.
 *
 * While the tool runs nobody holds the loop; else exactly one thread does, and the lock of the loan
 * orders what they do.  A worker that holds it only serves the channel of the box: output handlers
 * and hooks stay on the thread that called execute. */
#ifndef LAZ_TOOL_LEND_H
#define LAZ_TOOL_LEND_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define LAZ_LEND_MS 2 /* what other events of the loop may have to wait for */

struct laz_call;
struct laz_lend;

int laz_lend_new(struct laz_lend **lend, struct laz_error *err);
void laz_lend_free(struct laz_lend *lend);

/* The owner's side. Between begin and end, calls that are begun may be lent the loop; one that was
 * offered and not served runs without it. `serve`, called by a worker that holds the loop, waits
 * for messages of the box for up to `ms` milliseconds and serves them; false: the owner is needed.
 */
void laz_lend_begin(struct laz_lend *lend, bool (*serve)(void *user, uint64_t ms), void *user);
void laz_lend_end(struct laz_lend *lend);
/* Whoever holds the loop: the call is to be run with the loop. False: by a worker without it. */
bool laz_lend_offer(struct laz_lend *lend, struct laz_call *call);
/* Lends the loop to the call that was offered, and waits until it is back. False: none was. */
bool laz_lend_serve(struct laz_lend *lend);

/* Any thread: is the answer of `call`, which its fields hold by now, delivered by the thread that
 * runs it? False: post it. */
bool laz_lend_keeps_answer(struct laz_lend *lend, const struct laz_call *call);
/* The worker's side, when the tool has returned: does this thread hold the loop now? Then
 * `answered` tells whether an answer was kept. */
bool laz_lend_resume(struct laz_lend *lend, const struct laz_call *call, bool *answered);
/* The worker holds the loop: the next call to run with it, or NULL: it was given back. */
struct laz_call *laz_lend_next(struct laz_lend *lend);

#endif
