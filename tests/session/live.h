/* SPDX-License-Identifier: MIT */
/* live.h (tests) - what tests of sessions share: an engine with settings given as text, code for
 * each rule in each language, and short ways to execute and compare. */
#ifndef LAZ_TESTS_LIVE_H
#define LAZ_TESTS_LIVE_H

#include "unit.h"

#include <lazaret/lazaret.h>

/* The code for the same rules in one language. */
struct words {
    const char *runtime;
    const char *print_begin; /* a line of code that prints a line */
    const char *add_2_3, *chain_13, *three_calls, *fail, *raise, *loop, *hello_no_newline;
    const char *two_lines, *hundred_lines, *set_x, *get_x, *multi, *syntax_error, *leave_0,
        *leave_7, *die, *forty_two_and_output, *exit_3_at_once, *sleep_10, *echo_x, *catch_fail,
        *wrong_type, *unexpected, *path_error;
};

extern const struct words languages[];
extern const size_t n_languages;

/* The code of one test in each language; NULL: none. */
struct phrase {
    const char *python, *r, *lua;
};
const char *test_phrase(const struct words *language, const struct phrase *phrase);

/* Sanitizers are slow, so time is not judged, and they need unlimited memory. */
#ifdef LAZ_SANITIZE
#define TEST_IS_SANITIZED true
#else
#define TEST_IS_SANITIZED false
#endif

/* An engine with `settings` ("session.timeout=5;limits.cpu=2") over the defaults, and the tools
 * add(a, b), fail(), echo(x), nothing(), slow(ms), late(ms), stuck(ms). Unless `settings` set them,
 * no timeouts end code or a start, so that no test depends on the speed of the machine. NULL and a
 * failed assertion when it cannot be created. */
struct laz_engine *test_engine(const char *settings);
/* The settings alone; NULL and a failed assertion when there is a mistake. */
struct laz_settings *test_settings(const char *settings);
/* If set, receives the log of engines as "[LEVEL] TEXT" lines, which are then not printed. */
extern struct laz_buf *test_told;
void test_log(void *user, uint32_t level, const char *text);
/* The same without isolation (backend none). */
struct laz_engine *test_engine_open(const char *settings);
/* Engines made from now on use the mock agent of the build directory. Makes and frees one engine
 * before, so that libraries have made what they keep. For main(). */
void test_mock_agent(void);
/* A session (from a template if TEST_WARM, a value of pool.warm, says so), or NULL and a failed
 * assertion, or NULL when the runtime is not built (skipped). */
struct laz_session *test_session(struct laz_engine *engine, const char *runtime);
/* The same from a template. */
struct laz_session *test_warm_session(struct laz_engine *engine, const char *runtime);
/* Executes; the caller owns the result. NULL and a failed assertion when the execution did not
 * begin. */
struct laz_result *test_run(struct laz_session *session, const char *code,
                            const struct laz_execute_options *options);
/* Executes and compares the verdict and, unless NULL, the value. */
void test_expect(struct laz_session *session, const char *code, enum laz_verdict verdict,
                 const char *value);
/* The same with options, such as a time limit for this execution. */
void test_expect_with(struct laz_session *session, const char *code,
                      const struct laz_execute_options *options, enum laz_verdict verdict,
                      const char *value);
/* From now on the clock of the engine stands still: timeouts, deadlines and pauses are over when a
 * test moves it (loop/loop.h). Not for what the watchdog has to look at again and again. */
void test_hold_clock(struct laz_engine *engine);
struct laz_engine *test_engine_of(struct laz_session *session);
/* With a held clock the tools slow, late and stuck move it by their duration. The first then
 * answers, the other two only after test_gate_open, which has to be called once for each of their
 * calls, before the engine is freed: late has a timeout of 100 ms, stuck none. */
void test_gate_open(void);
/* Called by the thread that drives the engine, also in a callback. */
void test_advance_clock(struct laz_engine *engine, uint64_t ms);
/* Called by any other thread, such as that of a tool; returns when the clock has been moved. */
void test_post_advance(struct laz_engine *engine, uint64_t ms);
/* A line handler with a struct test_advance: moves the clock when the first line comes. */
struct test_advance {
    struct laz_engine *engine;
    uint64_t ms;
    unsigned lines; /* received so far */
};
void test_line_advances(void *user, int stream, const char *text, size_t len);
/* Executes code that does not end by itself and is ended after `timeout_ms`. */
void test_expect_timeout(struct laz_session *session, const char *code, uint64_t timeout_ms);
/* Executes and looks for `part` in the error's message. */
void test_expect_error(struct laz_session *session, const char *code, enum laz_verdict verdict,
                       const char *part);
void test_expect_error_with(struct laz_session *session, const char *code,
                            const struct laz_execute_options *options, enum laz_verdict verdict,
                            const char *part);
/* All output of one stream, a new string. */
char *test_output(const struct laz_result *result, int stream);
/* Does the JSON of the result contain `part`? Prints the result if not. */
bool test_result_has(struct laz_result *result, const char *part);
/* Calls `body` for each language with an engine of these settings and a new session. */
void test_each(const char *settings, void (*body)(struct laz_session *, const struct words *));
/* The same in Lua, which stands for all languages where no language takes part. */
void test_in_lua(const char *settings, void (*body)(struct laz_session *, const struct words *));
/* The same with one session of each language, made by the first call with its settings and shared
 * by cases that leave it unchanged. test_kept_free ends them; tests that look for leftovers must
 * call it first. */
void test_each_kept(const char *settings, void (*body)(struct laz_session *, const struct words *));
void test_kept_free(void);

#endif
