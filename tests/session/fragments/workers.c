/* SPDX-License-Identifier: MIT */
/* workers.c - around the example of a server that forks: each worker has an engine of its own. */
#include <lazaret/lazaret.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 2

static int work(const struct laz_settings *settings)
{
    struct laz_error err = {0};
    struct laz_engine *engine = NULL;
    struct laz_result *result = NULL;
    struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};

    if (laz_engine_new(settings, NULL, &engine, &err) ||
        laz_execute(engine, &lua, "1 + 1", SIZE_MAX, NULL, &result, &err))
        fprintf(stderr, "%s\n", err.text);
    int status = err.code || laz_result_verdict(result) != LAZ_VERDICT_OK;
    laz_result_free(result);
    laz_engine_free(engine);
    return status;
}

int main(void)
{
    struct laz_settings *settings = NULL;
    int failed = 0;

    if (laz_settings_new(&settings, NULL))
        return 1;
EXAMPLE
    for (int i = 0; i < WORKERS; i++) {
        int status = 1;

        failed |= wait(&status) < 0 || status;
    }
    laz_settings_free(settings);
    return failed;
}
