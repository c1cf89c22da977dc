/* SPDX-License-Identifier: MIT */
/* storm.h (mock) - messages that nobody would write, from a seed. */
#ifndef LAZ_MOCK_STORM_H
#define LAZ_MOCK_STORM_H

#include <stddef.h>
#include <stdint.h>

#define STORM_MAX 8192 /* bytes of one message */

/* The next message of the storm, with or without its newline: legal ones among broken, changed and
 * random ones; six to `calm`. `id` is that of the execution. Its length; *state is the seed, not 0. */
size_t storm_message(uint64_t *state, long long id, unsigned calm, char out[STORM_MAX]);

#endif
