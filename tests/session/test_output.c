/* SPDX-License-Identifier: MIT */
/* test_output.c - output of code and its children arrives completely, unchanged, while it runs.
 *
 * That a line arrives while the code runs is shown by an effect of its handler: a tool answers, or
 * the execution is cancelled, only when the handler has seen the line. */
#include "live.h"

#include "base/buf.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_output(struct laz_session *session, const char *code, int stream,
                          const char *expected)
{
    struct laz_result *result = test_run(session, code, NULL);

    if (!result)
        return;
    char *output = test_output(result, stream);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(output ? output : "", expected);
    free(output);
    laz_result_free(result);
}

/* All bytes of one stream. */
static struct laz_buf bytes_of(const struct laz_result *result, int stream)
{
    struct laz_buf bytes = LAZ_BUF_INIT;
    size_t len;
    int of;

    for (size_t i = 0; i < laz_result_outputs(result); i++) {
        const char *piece = laz_result_output(result, i, &of, &len);
        if (of == stream)
            laz_buf_append(&bytes, piece, len);
    }
    return bytes;
}

/* ---- lines ---------------------------------------------------------------------------------- */

struct counter {
    long lines, wrong;
    size_t bytes;
};

static void count_numbered(void *user, int stream, const char *text, size_t len)
{
    struct counter *counter = user;
    char expected[32];

    int n = snprintf(expected, sizeof expected, "line %ld", counter->lines++);
    counter->wrong += stream != LAZ_STDOUT || len != (size_t)n || memcmp(text, expected, len) != 0;
    counter->bytes += len + 1;
}

/* The other languages write 20000 lines below (dying_with_much_to_say). */
static void writing_lines(struct laz_session *session, const struct words *w)
{
    static const char code[] = "for i = 0, 99999 do print('line ' .. i) end";
    struct counter counter = {0};
    struct laz_execute_options options = {
        .size = sizeof options, .line = count_numbered, .user = &counter};
    struct laz_result *result = test_run(session, code, &options);

    (void)w;
    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT_EQUAL(counter.lines, 100000);
    CU_ASSERT_EQUAL(counter.wrong, 0);
    struct laz_buf bytes = bytes_of(result, LAZ_STDOUT);
    CU_ASSERT_EQUAL(bytes.len, counter.bytes);
    laz_buf_fini(&bytes);
    laz_result_free(result);
}

static void a_hundred_thousand_lines_arrive_complete(void)
{
    test_in_lua("", writing_lines);
}

/* ---- while the code runs -------------------------------------------------------------------- */

static sem_t gate; /* the tool waits for it until the line was seen */

static void gate_tool(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    while (sem_wait(&gate))
        ;
    laz_reply_value(reply, "true", 4);
}

static void gate_line(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream;
    if (len == 5 && memcmp(text, "first", 5) == 0)
        sem_post(&gate);
}

static void first_line_before_the_tool_answers(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "print('first')\nr = gate()\nprint('second')\nr",
        .r = "cat('first\\n')\nr <- gate()\ncat('second\\n')\nr",
        .lua = "print('first')\nlocal r = gate()\nprint('second')\nreturn r",
    };
    struct laz_execute_options options = {.size = sizeof options, .line = gate_line};

    sem_init(&gate, 0, 0);
    struct laz_result *result = test_run(session, test_phrase(w, &code), &options);
    if (result)
        UNIT_TEXT(laz_result_value(result), "true");
    laz_result_free(result);
}

static void cancel_line(void *user, int stream, const char *text, size_t len)
{
    (void)stream, (void)text, (void)len;
    laz_engine_cancel(user);
}

/* Without a tool call or an end of the code that would flush the output. */
static void first_line_from_a_loop(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "print('first')\nwhile True: pass",
        .r = "cat('first\\n')\nrepeat {}",
        .lua = "print('first')\nwhile true do end",
    };
    struct laz_execute_options options = {
        .size = sizeof options, .line = cancel_line, .user = test_engine_of(session)};
    struct laz_result *result = test_run(session, test_phrase(w, &code), &options);

    if (result) {
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CANCELLED);
        char *output = test_output(result, LAZ_STDOUT);
        UNIT_TEXT(output, "first\n");
        free(output);
    }
    laz_result_free(result);
}

static void first_line_arrives_at_once(void)
{
    struct laz_engine *engine = test_engine("");
    const struct laz_tool tool = {.size = sizeof tool, .name = "gate", .description = ""};

    if (engine)
        CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, gate_tool, NULL, NULL), 0);
    for (size_t i = 0; engine && i < n_languages; i++) {
        struct laz_session *session = test_session(engine, languages[i].runtime);
        if (session) {
            first_line_before_the_tool_answers(session, &languages[i]);
            first_line_from_a_loop(session, &languages[i]);
        }
        laz_session_free(session);
    }
    laz_engine_free(engine);
}

/* ---- bytes, children, streams --------------------------------------------------------------- */

static void writing_bytes(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        /* R's strings cannot contain NUL */
        .python = "import sys\nn = sys.stdout.buffer.write(bytes(range(256)))",
        .r = "cat(rawToChar(as.raw(1:255)))",
        .lua = "for i = 0, 255 do io.write(string.char(i)) end",
    };
    struct laz_result *result = test_run(session, test_phrase(w, &code), NULL);

    if (!result)
        return;
    struct laz_buf bytes = bytes_of(result, LAZ_STDOUT);
    int first = *w->runtime == 'r', wrong = 0;
    CU_ASSERT_EQUAL(bytes.len, (size_t)(256 - first));
    for (size_t i = 0; i < bytes.len; i++)
        wrong += (unsigned char)bytes.data[i] != i + (size_t)first;
    CU_ASSERT_EQUAL(wrong, 0);
    laz_buf_fini(&bytes);
    laz_result_free(result);
}

static void bytes_are_not_changed(void)
{
    test_each_kept("", writing_bytes);
}

static void having_children(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "import os, subprocess\n"
                  "print('before')\n"
                  "r = subprocess.run(['sh', '-c', 'echo child; echo wrong >&2'])\n"
                  "r = os.system('echo shell')\n"
                  "print('after')",
        .r = "cat('before\\n')\n"
             "r <- system2('sh', c('-c', shQuote('echo child; echo wrong >&2')))\n"
             "r <- system('echo shell')\n"
             "cat('after\\n')",
        .lua = "print('before')\n"
               "local r = os.execute('echo child; echo wrong >&2')\n"
               "r = os.execute('echo shell')\n"
               "print('after')",
    };

    expect_output(session, test_phrase(w, &code), LAZ_STDOUT, "before\nchild\nshell\nafter\n");
    expect_output(session, test_phrase(w, &code), LAZ_STDERR, "wrong\n");
}

static void output_of_children_comes_in_its_place(void)
{
    test_each_kept("", having_children);
}

static void complaining(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint('out')",
        .r = "cat('out\\n')\nmessage('err')\ncat('out\\n')",
        .lua = "print('out')\nio.stderr:write('err\\n')\nprint('out')",
    };

    expect_output(session, test_phrase(w, &code), LAZ_STDOUT, "out\nout\n");
    expect_output(session, test_phrase(w, &code), LAZ_STDERR, "err\n");
    struct laz_result *result = test_run(session, test_phrase(w, &code), NULL);
    CU_ASSERT_TRUE(test_result_has(result, "{\"stream\":\"stderr\",\"text\":\"err\\n\"}"));
    laz_result_free(result);
}

static void standard_error_is_told_apart(void)
{
    test_each_kept("", complaining);
}

/* ---- limits --------------------------------------------------------------------------------- */

static void filling(struct laz_session *session, const struct words *w)
{
    struct laz_result *result = test_run(session, w->hundred_lines, NULL);

    if (!result)
        return;
    struct laz_buf bytes = bytes_of(result, LAZ_STDOUT);
    CU_ASSERT_EQUAL(bytes.len, 500);
    CU_ASSERT_TRUE(laz_result_is_truncated(result));
    CU_ASSERT_TRUE(test_result_has(result, "\"truncated\":true"));
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(laz_result_value(result), "\"done\"");
    laz_buf_fini(&bytes);
    laz_result_free(result);
    expect_output(session, w->two_lines, LAZ_STDOUT, "one\ntwo\n");
}

static void flooding(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "while True: print('x' * 99)",
        .r = "line <- strrep('x', 99)\nrepeat cat(line, '\\n', sep = '')",
        .lua = "local line = string.rep('x', 99)\nwhile true do print(line) end",
    };
    struct laz_result *result = test_run(session, test_phrase(w, &code), NULL);

    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OUTPUT_LIMIT);
    CU_ASSERT_TRUE(laz_result_is_truncated(result));
    struct laz_buf bytes = bytes_of(result, LAZ_STDOUT);
    CU_ASSERT_EQUAL(bytes.len, 500);
    CU_ASSERT_TRUE(test_result_has(result, "32000"));
    laz_buf_fini(&bytes);
    laz_result_free(result);
    expect_output(session, w->two_lines, LAZ_STDOUT, "one\ntwo\n");
}

/* What is past the size is dropped, and 64 times as much ends the code. */
static void past_its_size(struct laz_session *session, const struct words *w)
{
    filling(session, w);
    flooding(session, w);
}

static void a_flood_ends_the_execution(void)
{
    test_each("session.max_output_size=500", past_its_size);
}

static void count_any(void *user, int stream, const char *text, size_t len)
{
    struct counter *counter = user;

    (void)stream;
    counter->lines++;
    counter->bytes += len;
    for (size_t i = 0; i < len; i++)
        counter->wrong += text[i] != 'x';
}

static void writing_one_line(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "import sys\nn = sys.stdout.write('x' * 2097152)",
        .r = "cat(strrep('x', 2097152))",
        .lua = "io.write(string.rep('x', 2097152))",
    };
    struct counter counter = {0};
    struct laz_execute_options options = {
        .size = sizeof options, .line = count_any, .user = &counter};
    struct laz_result *result = test_run(session, test_phrase(w, &code), &options);

    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT_EQUAL(counter.bytes, 2097152);
    CU_ASSERT_EQUAL(counter.wrong, 0);
    CU_ASSERT(counter.lines >= 1 && counter.lines <= 4);
    struct laz_buf bytes = bytes_of(result, LAZ_STDOUT);
    CU_ASSERT_EQUAL(bytes.len, 2097152);
    laz_buf_fini(&bytes);
    laz_result_free(result);
}

static void a_line_of_two_megabytes_needs_no_newline(void)
{
    test_each_kept("", writing_one_line);
}

/* ---- between and after ---------------------------------------------------------------------- */

/* Executes, and counts the lines of the process behind it. */
static size_t lines_behind(struct laz_session *session, const char *code, const char *value)
{
    struct laz_result *result = test_run(session, code, NULL);
    char *output = result ? test_output(result, LAZ_STDOUT) : NULL;
    size_t n = 0;

    if (value)
        UNIT_TEXT(result ? laz_result_value(result) : "", value);
    for (const char *at = output; at && (at = strchr(at, 'k')); at++) /* of "background" */
        n++;
    free(output);
    laz_result_free(result);
    return n;
}

/* What it has written while nothing was executed is output of the next code. */
static void going_on_behind(struct laz_session *session, const struct words *w)
{
    size_t lines;

    /* more than fits into the pipe, so that it still runs when the execution has ended */
#define BEHIND "'(i=0; while [ $i -lt 30000 ]; do echo background; i=$((i + 1)); done; : >done) &'"
    static const struct phrase start = {
        .python = "import os\nr = os.system(" BEHIND ")",
        .r = "r <- system(" BEHIND ")",
        .lua = "local r = os.execute(" BEHIND ")",
    };
    static const struct phrase wait = {
        .python = "import time\nwhile not os.path.exists('done'): time.sleep(0.001)\n7",
        .r = "while (!file.exists('done')) Sys.sleep(0.001)\n7",
        .lua = "os.execute('until test -e done; do sleep 0.01; done')\nreturn 7",
    };

    test_expect(session, w->set_x, LAZ_VERDICT_OK, NULL);
    lines = lines_behind(session, test_phrase(w, &start), NULL);
    CU_ASSERT_EQUAL(laz_session_put_file(session, "put", "", 0, NULL), 0); /* which takes none */
    lines += lines_behind(session, w->add_2_3, "5");
    lines += lines_behind(session, test_phrase(w, &wait), "7");
    CU_ASSERT_EQUAL(lines, 30000);
    test_expect(session, w->get_x, LAZ_VERDICT_OK, "42");
    expect_output(session, w->two_lines, LAZ_STDOUT, "one\ntwo\n");
}

static void a_background_process_that_writes_does_no_harm(void)
{
    test_each_kept("", going_on_behind);
}

static void dying_with_much_to_say(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "import os, signal\nfor i in range(20000): print('line', i)\n"
                  "os.kill(os.getpid(), signal.SIGABRT)",
        .r = "for (i in 0:19999) cat('line ', i, '\\n', sep = '')\n"
             "tools::pskill(Sys.getpid(), 6L)\nSys.sleep(5)",
        .lua = "for i = 0, 19999 do print('line ' .. i) end\n"
               "os.execute('kill -ABRT $PPID')\nwhile true do end",
    };
    struct counter counter = {0};
    struct laz_execute_options options = {
        .size = sizeof options, .line = count_numbered, .user = &counter};
    struct laz_result *result = test_run(session, test_phrase(w, &code), &options);

    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CRASHED);
    CU_ASSERT_EQUAL(counter.lines, 20000);
    CU_ASSERT_EQUAL(counter.wrong, 0);
    laz_result_free(result);
}

static void a_crash_loses_no_output(void)
{
    test_each_kept("", dying_with_much_to_say);
}

/* ---- streams of the application ---------------------------------------------------------------
 */

/* The session is that of the settings; another one of its engine has the streams. */
static void writing_to_pipes(struct laz_session *session, const struct words *w)
{
    struct laz_engine *engine = test_engine_of(session);
    int out[2], errors[2];
    struct laz_session_options options = {.size = sizeof options, .runtime = w->runtime};
    struct laz_session *other = NULL;
    struct laz_error err = {0};
    char text[64];

    CU_ASSERT_EQUAL_FATAL(pipe(out) + pipe(errors), 0);
    options.output = &out[1];
    options.errors = &errors[1];
    CU_ASSERT_EQUAL_FATAL(laz_session_open(engine, &options, &other, &err), 0);
    struct laz_result *result =
        test_run(other, "io.stdout:write('out') io.stderr:write('err') return 7", NULL);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(laz_result_value(result), "7");
    CU_ASSERT_EQUAL(laz_result_outputs(result), 0);
    laz_result_free(result);
    laz_session_free(other);
    (void)close(out[1]);
    (void)close(errors[1]);
    CU_ASSERT_EQUAL(read(out[0], text, sizeof text), 3);
    CU_ASSERT_EQUAL(memcmp(text, "out", 3), 0);
    CU_ASSERT_EQUAL(read(out[0], text, sizeof text), 0);
    CU_ASSERT_EQUAL(read(errors[0], text, sizeof text), 3);
    CU_ASSERT_EQUAL(memcmp(text, "err", 3), 0);
    (void)close(out[0]);
    (void)close(errors[0]);
}

static void what_goes_to_a_given_stream_is_in_no_result(void)
{
    test_in_lua("", writing_to_pipes);
}

static void writing_to_a_file(struct laz_session *session, const struct words *w)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = w->runtime};
    struct laz_session *other = NULL;
    struct laz_error err = {0};
    FILE *file = tmpfile();
    int fd = file ? fileno(file) : -1;

    options.errors = &fd;
    CU_ASSERT_EQUAL(laz_session_open(test_engine_of(session), &options, &other, &err), LAZ_EINVAL);
    CU_ASSERT_PTR_NULL(other);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "neither a pipe nor a socket"));
    fclose(file);
}

static void a_file_is_no_stream(void)
{
    test_in_lua("", writing_to_a_file);
}

static const struct unit_test tests[] = {
    UNIT(a_hundred_thousand_lines_arrive_complete),
    UNIT(first_line_arrives_at_once),
    UNIT(bytes_are_not_changed),
    UNIT(output_of_children_comes_in_its_place),
    UNIT(standard_error_is_told_apart),
    UNIT(a_flood_ends_the_execution),
    UNIT(a_line_of_two_megabytes_needs_no_newline),
    UNIT(a_background_process_that_writes_does_no_harm),
    UNIT(a_crash_loses_no_output),
    UNIT(what_goes_to_a_given_stream_is_in_no_result),
    UNIT(a_file_is_no_stream),
    {0},
};

int main(void)
{
    int status = unit_run("output", tests);
    test_kept_free();
    return status;
}
