/* SPDX-License-Identifier: MIT */
/* live.h (tests) - what tests of sessions share: an engine with settings given as text, one
 * language's words for each rule, and short ways to execute and compare. */
#ifndef LAZ_TESTS_LIVE_H
#define LAZ_TESTS_LIVE_H

#include "unit.h"

#include <lazaret/lazaret.h>

/* What the same rule looks like in each language. */
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

/* What one test says in each language; NULL: it has no word for it. */
struct phrase {
    const char *python, *r, *lua;
};
const char *test_phrase(const struct words *language, const struct phrase *phrase);

/* Sanitizers slow things down, so that time is not judged, and need memory without a limit. */
#ifdef __SANITIZE_ADDRESS__
#define TEST_IS_SANITIZED true
#else
#define TEST_IS_SANITIZED false
#endif

/* An engine with `settings` ("session.timeout=5;limits.cpu=2") over the defaults, and the tools
 * add(a, b), fail(), echo(x), nothing(), slow(ms), late(ms), stuck(ms). Unless `settings` say so,
 * neither code nor a start is ended by a clock: how fast a busy machine is decides no test. NULL
 * and a failed assertion when it cannot be made. */
struct laz_engine *test_engine(const char *settings);
/* Where it is set, what engines log is added here as "[LEVEL] TEXT" lines, and not printed. */
extern struct laz_buf *test_told;
/* The same without isolation (backend none). */
struct laz_engine *test_engine_open(const char *settings);
/* Engines made from now on use the mock agent of the build folder. One engine has been made before,
 * so that what libraries make once and keep is there. For main(). */
void test_mock_agent(void);
/* A session (with TEST_WARM, a value of pool.warm, from a template), or NULL and a failed
 * assertion, or NULL when the runtime is not built (skipped). */
struct laz_session *test_session(struct laz_engine *engine, const char *runtime);
/* The same from a template. */
struct laz_session *test_warm_session(struct laz_engine *engine, const char *runtime);
/* Executes; the caller owns the result. NULL and a failed assertion when nothing was executed. */
struct laz_result *test_run(struct laz_session *session, const char *code,
                            const struct laz_execute_options *options);
/* Executes and compares the verdict and, unless NULL, the value. */
void test_expect(struct laz_session *session, const char *code, enum laz_verdict verdict,
                 const char *value);
/* The same with options, such as a limit of time that no other execution has. */
void test_expect_with(struct laz_session *session, const char *code,
                      const struct laz_execute_options *options, enum laz_verdict verdict,
                      const char *value);
/* From now on the clock of the engine stands still: timeouts, deadlines and pauses are over when a
 * test moves it (loop/loop.h). Not for what the watchdog has to look at again and again. */
void test_hold_clock(struct laz_engine *engine);
struct laz_engine *test_engine_of(struct laz_session *session);
/* With a held clock the tools slow, late and stuck move it by what they take. The first answers
 * then, the other two only after test_gate_open, which has to be called once for each of their
 * calls, before the engine is freed: late has a timeout of 100 ms, stuck none. */
void test_gate_open(void);
/* By the thread that drives the engine, also in a callback. */
void test_advance_clock(struct laz_engine *engine, uint64_t ms);
/* By any other thread, such as that of a tool: returns when the clock was moved. */
void test_post_advance(struct laz_engine *engine, uint64_t ms);
/* A line handler with a struct test_advance: moves the clock when the first line comes. */
struct test_advance {
    struct laz_engine *engine;
    uint64_t ms;
    unsigned lines; /* heard */
};
void test_line_advances(void *user, int stream, const char *text, size_t len);
/* Executes what does not end by itself, and is ended after `timeout_ms`. */
void test_expect_timeout(struct laz_session *session, const char *code, uint64_t timeout_ms);
/* Executes and looks for `part` in the error's message. */
void test_expect_error(struct laz_session *session, const char *code, enum laz_verdict verdict,
                       const char *part);
void test_expect_error_with(struct laz_session *session, const char *code,
                            const struct laz_execute_options *options, enum laz_verdict verdict,
                            const char *part);
/* All output of one stream, a new string. */
char *test_output(const struct laz_result *result, int stream);
/* Does the whole result, as JSON, contain `part`? Prints the result when not. */
bool test_result_has(struct laz_result *result, const char *part);
/* Bodies called for each language with an engine of these settings and a fresh session. */
void test_each(const char *settings, void (*body)(struct laz_session *, const struct words *));
/* The same with one session of each language, made by the first call with its settings, for all
 * cases that leave it as it was. test_kept_free ends them; before it a test that looks for what is
 * left behind. */
void test_each_kept(const char *settings, void (*body)(struct laz_session *, const struct words *));
void test_kept_free(void);

#endif
