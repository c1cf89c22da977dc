/* SPDX-License-Identifier: MIT */
/* pool.h - what a pool shares with its sessions and its engine. */
#ifndef LAZ_ENGINE_POOL_H
#define LAZ_ENGINE_POOL_H

struct laz_engine;
struct laz_pool_member;

/* Its session started, failed to, or ended: the pool looks at it between two turns of the loop. */
void laz_pool_changed(struct laz_pool_member *member);
/* The application frees a session that is a pool's. */
void laz_pool_take_back(struct laz_pool_member *member);
/* Closes and frees the pools of an engine. */
void laz_pools_free(struct laz_engine *engine);

#endif
