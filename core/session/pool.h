/* SPDX-License-Identifier: MIT */
/* pool.h - what sessions and the engine call of a pool; the rest is in shared.h. All functions are
 * for the loop thread. */
#ifndef LAZ_SESSION_POOL_H
#define LAZ_SESSION_POOL_H

#include "base/error.h"

#include <stdint.h>

struct laz_session_shared;
struct laz_pool;
struct laz_pool_view;
struct laz_pool_member;

/* Who held its session is done with it. With pool.reset it goes, and so does one that does not run.
 */
void laz_pool_give_back(struct laz_pool_member *member);
/* Callers that wait for a session get LAZ_ECANCELLED. */
void laz_pools_cancel(struct laz_session_shared *shared);
/* The engine is being freed: ends the pools and tells their callers; then frees them. */
void laz_pools_end(struct laz_session_shared *shared);
void laz_pools_free(struct laz_session_shared *shared);

#endif
