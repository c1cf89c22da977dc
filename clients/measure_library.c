/* SPDX-License-Identifier: MIT */
/* measure_library.c - what the library itself takes for an execution, for clients/measure.
 *
 * For each line on standard input, which is code in Lua, it executes it once in one session, with a
 * tool `one`, and writes the microseconds of that. So whoever measures a client can let both do the
 * same work in turns, on the same machine in the same second. */
#include <lazaret/lazaret.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct laz_tool tool = {.size = sizeof tool, .name = "one", .parameters = "[]"};

static void one(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user;
    (void)args;
    (void)len;
    laz_reply_value(reply, "1", 1);
}

static double microseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(void)
{
    struct laz_engine *engine = NULL;
    struct laz_session *session = NULL;
    struct laz_error err = {0};
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_execute_options execute = {.size = sizeof execute};
    char line[4096];
    int status = 1;

    if (laz_engine_new(NULL, NULL, &engine, &err) ||
        laz_engine_add_tool(engine, &tool, one, NULL, &err) ||
        laz_session_open(engine, &options, &session, &err))
        goto out;
    while (fgets(line, sizeof line, stdin)) {
        struct laz_result *result = NULL;
        double begun = microseconds();

        if (laz_session_execute(session, line, strcspn(line, "\n"), &execute, &result, &err))
            goto out;
        printf("%.1f\n", microseconds() - begun);
        fflush(stdout);
        status = laz_result_verdict(result) == LAZ_VERDICT_OK ? 0 : 1;
        laz_result_free(result);
        if (status)
            goto out;
    }
    status = 0;
out:
    if (err.code)
        fprintf(stderr, "measure_library: %s\n", err.text);
    laz_session_free(session);
    laz_engine_free(engine);
    return status;
}
