/* SPDX-License-Identifier: MIT */
/* storm.h (mock) - random and broken messages, from a seed. */
#ifndef LAZ_MOCK_STORM_H
#define LAZ_MOCK_STORM_H

#include <stddef.h>
#include <stdint.h>

#define STORM_MAX 8192 /* bytes of one message */

/* Makes the next message, with or without its newline: `calm` legal ones to six broken, changed or
 * random ones. `id` is that of the execution. Returns its length; *state is the seed, not 0. */
size_t storm_message(uint64_t *state, long long id, unsigned calm, char out[STORM_MAX]);

#endif
