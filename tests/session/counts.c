/* SPDX-License-Identifier: MIT */
/* counts.c - executes and calls a tool a given number of times, and prints the number of
 * allocations.
 *
 *     counts EXECUTIONS CALLS
 *
 * Before that it starts a second session, cold. counts.sh runs it under strace. The clock of the engine is held, because without a control group
 * the watchdog would sample the box more often on a slower machine. Exit status 77: there is no
 * Lua. */
#include "fault.h"

#include "engine/engine.h"
#include "loop/loop.h"

#include <lazaret/lazaret.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct laz_engine *engine;
static struct laz_session *session, *second;

static void tool_seven(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_value(reply, "7", 1);
}

static void execute(const char *code)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    if (laz_session_execute(session, code, SIZE_MAX, NULL, &result, &err) ||
        laz_result_verdict(result) != LAZ_VERDICT_OK) {
        fprintf(stderr, "%s\n", result ? laz_result_json(result) : err.text);
        exit(1);
    }
    laz_result_free(result);
}

/* The lines also serve as marks in the trace, so each is one write. */
static void begin(const char *part)
{
    dprintf(1, "begin %s\n", part);
    fault_begin(0, false);
}

static void end(const char *part)
{
    dprintf(1, "%s %lu\n", part, fault_end());
}

int main(int argc, char **argv)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "seven", .description = ""};
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};
    char code[64];

    if (argc != 3)
        return 2;
    int rc = laz_settings_new(&settings, &err);
    if (!rc)
        rc = laz_settings_set(settings, "session.start_timeout", "600", &err);
    if (!rc)
        rc = laz_engine_new(settings, NULL, &engine, &err);
    laz_settings_free(settings);
    if (!rc)
        rc = laz_engine_add_tool(engine, &tool, tool_seven, NULL, &err);
    if (!rc)
        rc = laz_session_open(engine, &lua, &session, &err);
    if (rc) {
        fprintf(stderr, "%s\n", err.text);
        return rc == LAZ_ENOENT || rc == LAZ_ESETUP ? 77 : 1;
    }
    laz_loop_hold_clock(engine->driver.loop);
    begin("first");
    execute("1");
    end("first");
    execute("return seven()"); /* what is made once is made */
    begin("start");
    rc = laz_session_open(engine, &lua, &second, &err);
    end("start");
    if (rc) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    begin("execute");
    for (int i = 0; i < atoi(argv[1]); i++)
        execute("1");
    end("execute");
    snprintf(code, sizeof code, "for i = 1, %d do seven() end", atoi(argv[2]));
    begin("call");
    execute(code);
    end("call");
    laz_engine_free(engine);
    return 0;
}
