/* SPDX-License-Identifier: MIT */
/* pool.c - many executions at once in the application's own loop, each in a fresh session.
 *
 *     cc pool.c $(pkg-config --cflags --libs lazaret) -o pool && ./pool
 *
 * Eight executions share the four sessions of a pool; the application waits with poll(2) for
 * lazaret and for whatever else it has to wait for. Exit status 0 when all ended well. */
#include <lazaret/lazaret.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define EXECUTIONS 8

struct work {
    int left, sum;
};

/* Called by laz_engine_step, once for each execution. */
static void ended(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct work *work = user;

    work->left--;
    if (result && laz_result_verdict(result) == LAZ_VERDICT_OK)
        work->sum += atoi(laz_result_value(result));
    else
        fprintf(stderr, "pool: %s\n", err ? err->text : laz_result_error(result));
    laz_result_free(result);
}

int main(void)
{
    struct laz_engine *engine = NULL;
    struct laz_pool *pool = NULL;
    struct laz_error err = {0};
    struct laz_pool_options python = {.size = sizeof python, .runtime = "python", .members = 4};
    struct work work = {0};
    char code[64];

    if (laz_engine_new(NULL, NULL, &engine, &err) || laz_pool_new(engine, &python, &pool, &err)) {
        fprintf(stderr, "pool: %s\n", err.text);
        laz_engine_free(engine);
        return 1;
    }
    for (int i = 1; i <= EXECUTIONS; i++) {
        snprintf(code, sizeof code, "x = globals().get('x', 0) + %d\nx", i);
        if (laz_pool_execute_async(pool, 10000, code, SIZE_MAX, NULL, ended, &work, &err))
            fprintf(stderr, "pool: %s\n", err.text);
        else
            work.left++;
    }
    while (work.left) {
        struct pollfd fds[] = {{.fd = laz_engine_fd(engine), .events = POLLIN}}; /* and others */
        poll(fds, 1, laz_engine_timeout(engine));
        laz_engine_step(engine, 0, &err);
    }
    printf("sum: %d\n", work.sum); /* 1 + ... + 8: no execution saw another one's x */
    laz_engine_free(engine);       /* and the pool */
    return work.sum == 36 ? 0 : 1;
}
