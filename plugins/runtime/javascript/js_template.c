/* SPDX-License-Identifier: MIT */
/* js_template.c - an engine that is started once and copied for each session.
 * Side: box.  Input trusted: yes (libraries of the host's settings).
 *
 * The context stays: libraries were evaluated in it, and objects of another one would have foreign
 * prototypes. What differs between sessions is what the engine seeds when a context is made, the
 * state of Math.random, which parts/run.js therefore keeps itself. The copy is made by a process
 * with one thread (LAZ_RUNTIME_ONE_THREAD): the engine's allocator has a thread that ends when it
 * was idle for ten seconds, and a lock that it holds would be held in the copy for ever. */
#include "js.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define TEMPLATE_ROUNDS 30

int js_seed(struct js_state *js, struct laz_error *err)
{
    uint32_t seed[4];
    JSValueRef numbers[4];

    if (getrandom(seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        return laz_fail(err, LAZ_ESETUP, "javascript: the system gives no random numbers");
    for (size_t i = 0; i < 4; i++)
        numbers[i] = js_number(js->context, seed[i]);
    if (!js_call(js, JS_RENEW, 4, numbers, NULL))
        return laz_fail(err, LAZ_ESETUP, "javascript: the random numbers cannot be renewed");
    return 0;
}

/* Runs the path of an execution, so that what it needs is loaded, compiled and in the caches of the
 * engine. It leaves nothing behind. */
static void template_warm_up(struct js_state *js, int rounds)
{
    static const char *const codes[] = {
        "1 + 1",
        "({a: [1, 'two', null, {b: true}]})",
        "const lazaret_warm = 1; lazaret_warm + 1",
        "await null; 'text'",
        "console.log('', 1, {a: 1}); [1, 2, 3].map((x) => x * 2)",
        "throw new Error('x')",
        "delete globalThis.lazaret_warm",
    };
    struct laz_outcome outcome;

    js->is_silent = true;
    for (int i = 0; i < rounds; i++)
        for (size_t j = 0; j < sizeof codes / sizeof *codes; j++) {
            outcome = (struct laz_outcome){.size = sizeof outcome};
            js_eval(js, codes[j], strlen(codes[j]), LAZ_WANTED_TEXT, &outcome);
        }
    js->is_silent = false;
    js_rest(js);
    js->executions = 0;
}

void js_before_fork(void *state)
{
    struct js_state *js = state;
    struct laz_error err = {0};

    js->is_template = true; /* no other threads */
    if (js_look_up(js, &err) == 0)
        template_warm_up(js, TEMPLATE_ROUNDS);
    JSGarbageCollect(js->context);
    fflush(NULL);
}

int js_renew(void *state, struct laz_error *err)
{
    struct js_state *js = state;

    js->pid = getpid();
    js->is_template = false;
    template_warm_up(js,
                     1); /* pages are copied and threads started now, and not while a user waits */
    return js_seed(js, err);
}
