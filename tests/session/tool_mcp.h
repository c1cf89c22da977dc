/* SPDX-License-Identifier: MIT */
/* tool_mcp.h (tests) - servers of MCP (tests/mock/mcp_server.py) for tests, and engines that have
 * them.
 */
#ifndef LAZ_TESTS_TOOL_MCP_H
#define LAZ_TESTS_TOOL_MCP_H

#include "live.h"

#include "base/buf.h"
#include "loop/loop.h"

#define PYTHON "/usr/bin/python3"

extern char mcp_directory[];
extern struct laz_buf mcp_told; /* the log of the engine */

/* If set, moves the clock of an engine by so much when its log has this text. */
struct mcp_when {
    const char *text;
    struct laz_engine *engine;
    uint64_t ms;
};
extern struct mcp_when mcp_when;

/* A handler of the log, for mcp_told and mcp_when. */
void mcp_tell(void *user, uint32_t level, const char *text);
bool mcp_was_told(const char *part);
/* Lines of keys with those of the limits of time that they do not set, so long that a busy machine
 * reaches none. The caller frees the text. */
char *mcp_patient(const char *more);
/* A [[tools]] table; `more`: further keys, beside those of mcp_patient. The caller frees the text.
 */
char *mcp_server(const char *name, const char *era, const char *fault, const char *more);
/* An engine with these tables; takes them. */
struct laz_engine *mcp_engine_of(char *one, char *other);

/* Moves the clock in each turn of the loop: laz_loop_post(loop, &clock.post). */
struct mcp_clock {
    struct laz_post post; /* run: mcp_clock_goes_on */
    struct laz_engine *engine;
    bool stops;
};
void mcp_clock_goes_on(struct laz_post *post);
/* Frees an engine whose servers need to be killed, without waiting for the real time. */
void mcp_engine_free_in_time(struct laz_engine *engine);
/* Runs tests of this suite in a directory of their own. */
int mcp_run(const char *suite, const struct unit_test *tests);

#endif
