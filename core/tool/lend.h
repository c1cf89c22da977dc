/* SPDX-License-Identifier: MIT */
/* lend.h - lends the loop to the worker thread that runs a tool.
 *
 * A tool must not run in the loop thread: that is a thread of the application, waits in
 * laz_session_execute, and has to return when a timeout has passed, whatever the tool does.  But
 * waking a worker for the tool and the loop thread for its answer takes several times as long as a
 * quick tool.  So the loop thread lends the loop to the worker along with the call: the worker runs
 * the tool, sends the answer to the box, and waits there for the next call, without a switch of
 * threads.  A loan lasts LAZ_LEND_MS.  If the tool still runs then, the loop thread takes the loop
 * back and the answer is posted to it; else the worker gives the loop back.
 *
 * While the tool runs no thread holds the loop; else exactly one does, and the lock of the loan
 * orders their accesses.  A worker that holds it only serves the channel of the box: handlers of
 * output and hooks run in the thread that called execute. */
#ifndef LAZ_TOOL_LEND_H
#define LAZ_TOOL_LEND_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define LAZ_LEND_MS 2 /* how long other events of the loop may be delayed */

struct laz_call;
struct laz_lend;

int laz_lend_new(struct laz_lend **lend, struct laz_error *err);
void laz_lend_free(struct laz_lend *lend);

/* Loop thread: between begin and end, the loop may be lent to calls. `serve` is called by a worker
 * that holds the loop: it waits up to `ms` milliseconds for messages of the box and handles them;
 * false: the loop thread is needed. End hands a call that was offered to a worker without the loop.
 */
void laz_lend_begin(struct laz_lend *lend, bool (*serve)(void *user, uint64_t ms), void *user);
void laz_lend_end(struct laz_lend *lend);
/* Thread that holds the loop: offers a call to run with the loop. False: a worker has to run it
 * without. */
bool laz_lend_offer(struct laz_lend *lend, struct laz_call *call);
/* Loop thread: lends the loop to the call that was offered, and waits until the loop is back.
 * False: no call was offered. */
bool laz_lend_serve(struct laz_lend *lend);

/* Any thread, when `call` holds its answer: true if the thread that runs the call will deliver it;
 * false: the caller posts it. */
bool laz_lend_keeps_answer(struct laz_lend *lend, const struct laz_call *call);
/* Worker, when the tool has returned: true if this thread holds the loop now; `answered` is set to
 * whether an answer was kept. */
bool laz_lend_resume(struct laz_lend *lend, const struct laz_call *call, bool *answered);
/* Worker that holds the loop: returns the next call to run with it, or gives it back and returns
 * NULL. */
struct laz_call *laz_lend_next(struct laz_lend *lend);

#endif
