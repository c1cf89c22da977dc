/* SPDX-License-Identifier: MIT */
/* pingpong.h - the floor of execute and tool call: two processes that pass lines over a Unix
 * socket, each with a libuv loop, not pinned to a core. */
#ifndef LAZ_TESTS_PINGPONG_H
#define LAZ_TESTS_PINGPONG_H

#include <stddef.h>
#include <stdint.h>

struct pingpong;

/* Starts the other process. Each request has `request` bytes, each answer `answer`, newline
 * included. NULL when it cannot be started. */
struct pingpong *pingpong_start(size_t request, size_t answer);
/* One round trip in microseconds. */
double pingpong_once(struct pingpong *pingpong);
void pingpong_stop(struct pingpong *pingpong);

#endif
