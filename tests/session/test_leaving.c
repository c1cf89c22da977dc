/* SPDX-License-Identifier: MIT */
/* test_leaving.c - what a session and an engine leave behind when they go: directories that take
 * long to remove, and callbacks of tools that do not return. */
#include "live.h"
#include "traces.h"
#include "unit.h"

#include "base/buf.h"
#include "base/container.h"
#include "engine/engine.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Work that lasts until it is let go. */
struct gate {
    struct laz_work work;
    sem_t began, open, over;
};

static void gate_init(struct gate *gate)
{
    CU_ASSERT_EQUAL_FATAL(sem_init(&gate->began, 0, 0) | sem_init(&gate->open, 0, 0) |
                              sem_init(&gate->over, 0, 0),
                          0);
}

static void gate_pass(struct gate *gate)
{
    sem_post(&gate->began);
    while (sem_wait(&gate->open) != 0)
        ;
}

static void gate_run(struct laz_work *work)
{
    gate_pass(LAZ_CONTAINER(work, struct gate, work));
}

/* ---- directories ---------------------------------------------------------------------------- */

static const char many_files[] = "for i = 1, 300 do assert(io.open('file' .. i, 'w')):close() end\n"
                                 "os.execute('mkdir -p deep/er; echo x >deep/er/file')\n"
                                 "return 1";

static bool directory_is_there(const struct laz_engine *engine, unsigned box)
{
    char path[300];

    snprintf(path, sizeof path, "%s/b%u", engine->directory, box);
    return access(path, F_OK) == 0;
}

/* The thread that removes, and ends what has got away from a reaper, is busy with something else;
 * nobody waits for it. */
static void no_session_waits_for_the_files_of_another(void)
{
    struct gate gate = {.work.run = gate_run};
    struct laz_engine *engine = test_engine("sandbox.backend=landlock");
    struct laz_session *session = test_session(engine, "lua"), *other;
    unsigned box = session ? engine->boxes.boxes - 1 : 0;

    if (session) {
        gate_init(&gate);
        test_expect(session, many_files, LAZ_VERDICT_OK, "1");
        other = test_session(engine, "lua");
        CU_ASSERT_EQUAL_FATAL(laz_workers_add(engine->boxes.remover, &gate.work, NULL), 0);
        laz_session_free(session);
        while (engine->boxes.leaving && !laz_box_is_ended(engine->boxes.leaving))
            CU_ASSERT_EQUAL(laz_engine_step(engine, -1, NULL), 0);
        test_expect(other, "return 2", LAZ_VERDICT_OK, "2");
        CU_ASSERT(directory_is_there(engine, box));
        CU_ASSERT_PTR_NOT_NULL_FATAL(
            engine->boxes.leaving); /* until it is removed: with its uid, */
        CU_ASSERT_FALSE(engine->boxes.leaving->returns_uid); /* which no loop waits for, ... */
        CU_ASSERT_TRUE(engine->boxes.leaving->has_left);     /* ... nor for its processes */
        sem_post(&gate.open);
        while (engine->boxes.leaving)
            CU_ASSERT_EQUAL(laz_engine_step(engine, -1, NULL), 0);
        CU_ASSERT_FALSE(directory_is_there(engine, box));
    }
    laz_engine_free(engine);
}

static void an_engine_is_freed_with_the_files_of_its_sessions(void)
{
    struct laz_engine *engine = test_engine("sandbox.backend=landlock");
    struct laz_session *session = test_session(engine, "lua");
    char *directory = engine ? laz_strdup(engine->directory) : NULL;

    if (session) {
        test_expect(session, many_files, LAZ_VERDICT_OK, "1");
        laz_session_free(session); /* its directory is on its way */
    }
    laz_engine_free(engine);
    CU_ASSERT(directory && access(directory, F_OK) != 0);
    free(directory);
}

/* ---- callbacks ------------------------------------------------------------------------------ */

static struct laz_engine *left; /* refers to what is left, for those who look for leaks */

static void stuck(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct gate *gate = user;

    (void)args, (void)len;
    laz_engine_cancel(left); /* the execution ends, and not before the callback has begun */
    gate_pass(gate);
    laz_reply_value(reply, "7", 1); /* nobody waits for it any more */
    sem_post(&gate->over);
}

static void an_engine_is_freed_though_a_callback_does_not_return(void)
{
    static const struct laz_tool tool = {
        .size = sizeof tool, .name = "never", .description = "Never returns"};
    static struct gate gate; /* the callback has it for longer than this function runs */
    struct laz_buf told = LAZ_BUF_INIT;

    test_told = &told;
    left = test_engine("");
    CU_ASSERT_PTR_NOT_NULL_FATAL(left);
    gate_init(&gate);
    left->tools_ms = 1;
    CU_ASSERT_EQUAL(laz_engine_add_tool(left, &tool, stuck, &gate, NULL), 0);
    struct laz_session *session = test_session(left, "lua");
    if (session) {
        struct laz_result *result = NULL;
        CU_ASSERT_EQUAL(
            laz_session_execute(session, "return never()", SIZE_MAX, NULL, &result, NULL), 0);
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CANCELLED);
        laz_result_free(result);
    }
    char *directory = laz_strdup(left->directory);
    laz_engine_free(left);
    CU_ASSERT(access(directory, F_OK) != 0);
    CU_ASSERT_EQUAL(trace_children(), 0);
    if (session) {
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&told), "1 callbacks of tools did not return"));
        sem_post(&gate.open);
        while (sem_wait(&gate.over) != 0)
            ;
    }
    free(directory);
    test_told = NULL;
    laz_buf_fini(&told);
}

static const struct unit_test tests[] = {
    UNIT(no_session_waits_for_the_files_of_another),
    UNIT(an_engine_is_freed_with_the_files_of_its_sessions),
    UNIT(an_engine_is_freed_though_a_callback_does_not_return),
    {0},
};

int main(void)
{
    return unit_run("leaving", tests);
}
