/* SPDX-License-Identifier: MIT */
/* test_cost.c - no bytes from a box cost the host much more than others of the same length.
 *
 * Each parser reads an ordinary text and the worst ones that are known (tests/mock/worst.c), all of
 * one length; they are compared by the CPU time of this thread, the least of several runs, so that
 * other work of the machine has little influence. A worst text may cost COST_MOST times an ordinary
 * one. With LAZARET_TEST_TELL each result is printed. */
#include "languages.h"
#include "unit.h"

#include "../mock/worst.h"
#include "base/json.h"
#include "base/visible.h"
#include "session/output.h"
#include "advice/patterns.h"
#include "advice/sanitize.h"
#include "tool/tool.h"
#include "wire/frame.h"
#include "wire/message.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Sanitizers, counting of lines and missing optimisation change the cost of each parser
 * differently; quadratic time would still be detected. */
#if defined __OPTIMIZE__ && !defined LAZ_SANITIZE && !defined __SANITIZE_THREAD__
/* 4 times at most, usually. Processors differ, and where the linker puts a loop can double its time
 * (6.4 times for one text of patterns); quadratic time is a hundred times at this length. */
#define COST_MOST (getenv("LAZARET_TEST_FULL") ? 8.0 : 10.0)
#else
#define COST_MOST 16.0
#endif
#define COST_LEN       ((size_t)128 << 10)
#define COST_FULL      ((size_t)1000 << 10)
#define COST_RUNS      3  /* for each text */
#define COST_RUNS_MORE 20 /* for the ordinary text, and for one that seems to cost too much */

/* ---- what reads ----------------------------------------------------------------------------- */

/* Reads messages as the host does, 64 KiB at once, and makes a result with the text of an error. */
static void cost_message(const char *text, size_t len)
{
    struct laz_message message;
    struct laz_buf words = LAZ_BUF_INIT;
    struct laz_frame frame;
    char *line;

    laz_frame_init(&frame, len);
    for (size_t at = 0; at <= len;) {
        size_t some = len + 1 - at < 65536 ? len + 1 - at : 65536;
        char *room = laz_frame_room(&frame, some);
        memcpy(room, text + at, some);
        at += some;
        if (at > len)
            room[some - 1] = '\n';
        laz_frame_added(&frame, some);
        size_t n;
        if (laz_frame_next(&frame, &line, &n) != 1)
            continue;
        laz_message_parse(line, n, LAZ_WIRE_RUNNING, &message, NULL);
        if (message.message)
            laz_sanitize(message.message, LAZ_SANITIZE_MAX, &words);
        laz_message_fini(&message);
    }
    laz_frame_fini(&frame);
    laz_buf_fini(&words);
}

static struct laz_tool_set tools;

static void cost_arguments(const char *text, size_t len)
{
    struct laz_buf checked = LAZ_BUF_INIT;

    laz_tool_check_arguments(&tools.entries[0], text, len, &checked, NULL);
    laz_buf_fini(&checked);
}

static void cost_error(const char *text, size_t len)
{
    struct laz_buf clean = LAZ_BUF_INIT;

    (void)len;
    laz_sanitize(text, LAZ_SANITIZE_MAX, &clean);
    laz_buf_fini(&clean);
}

static void cost_code(const char *runtime, const char *text, size_t len)
{
    struct laz_strv warnings = LAZ_STRV_INIT;

    laz_patterns_find(languages_get(runtime), UINT32_MAX, text, len, &warnings);
    laz_strv_fini(&warnings);
}

static void cost_r(const char *text, size_t len)
{
    cost_code("r", text, len);
}

static void cost_python(const char *text, size_t len)
{
    cost_code("python", text, len);
}

static void cost_lua(const char *text, size_t len)
{
    cost_code("lua", text, len);
}

static void cost_output(const char *text, size_t len)
{
    struct laz_output output = {.max_lines = UINT64_MAX};

    for (size_t at = 0, some; at < len; at += some) {
        some = len - at < 16384 ? len - at : 16384;
        laz_output_add(&output, 1, text + at, some);
    }
    laz_output_end(&output);
    laz_output_fini(&output);
}

static void cost_quoted(const char *text, size_t len)
{
    struct laz_buf quoted = LAZ_BUF_INIT;

    laz_json_quote(&quoted, text, len);
    laz_buf_fini(&quoted);
}

static void cost_shown(const char *text, size_t len)
{
    struct laz_visible visible = {0};
    struct laz_buf shown = LAZ_BUF_INIT;

    laz_visible_add(&visible, &shown, text, len);
    laz_visible_end(&visible, &shown);
    laz_buf_fini(&shown);
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* Microseconds of CPU time of the cheapest run, or `least` if that is less. */
static double cost_least(void (*run)(const char *, size_t), const char *text, size_t len,
                         unsigned runs, double least)
{
    for (unsigned i = 0; i < runs; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        run(text, len);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        double us =
            (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
        if (us < least)
            least = us;
    }
    return least;
}

/* The length of the texts: with LAZARET_TEST_FULL=yes nearly max_message_size. */
static size_t cost_length(void)
{
    const char *full = getenv("LAZARET_TEST_FULL");

    return full && strcmp(full, "yes") == 0 ? COST_FULL : COST_LEN;
}

static void cost_compare(enum worst_kind kind, void (*run)(const char *, size_t))
{
    size_t len = cost_length();
    char *ordinary = calloc(1, len + 1), *worst = calloc(1, len + 1);
    const struct worst_text *text = worst_texts;

    CU_ASSERT_FATAL(ordinary && worst);
    while (text->kind != kind)
        text++;
    CU_ASSERT_FATAL(worst_make(text, 1, ordinary, len));
    double usual = cost_least(run, ordinary, len, COST_RUNS_MORE, 1e12);
    for (text++; text->kind == kind; text++) {
        CU_ASSERT_FATAL(worst_make(text, 1, worst, len));
        double us = cost_least(run, worst, len, COST_RUNS, 1e12);
        for (int i = 0; i < COST_RUNS_MORE && us > COST_MOST * usual;
             i++) { /* repeat: perhaps it was disturbed */
            us = cost_least(run, worst, len, COST_RUNS, us);
            usual = cost_least(run, ordinary, len, COST_RUNS, usual);
        }
        if (us > COST_MOST * usual || getenv("LAZARET_TEST_TELL"))
            printf("\n    %-18s %8.0f us: %.1f times %.0f us", text->name, us, us / usual, usual);
        CU_ASSERT(us <= COST_MOST * usual);
    }
    free(ordinary);
    free(worst);
}

static void messages_cost_alike(void)
{
    cost_compare(WORST_MESSAGE, cost_message);
}

static void arguments_cost_alike(void)
{
    static const struct laz_tool tool = {
        .size = sizeof tool,
        .name = "t",
        .parameters = "[{\"name\":\"any\",\"required\":false},"
                      "{\"name\":\"list\",\"type\":\"array\",\"required\":false},"
                      "{\"name\":\"object\",\"type\":\"list\",\"required\":false},"
                      "{\"name\":\"text\",\"type\":\"string\",\"required\":false},"
                      "{\"name\":\"number\",\"type\":\"number\",\"required\":false},"
                      "{\"name\":\"whole\",\"type\":\"integer\",\"required\":false},"
                      "{\"name\":\"listed\",\"enum\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"
                      "\"required\":false},"
                      "{\"name\":\"word\",\"enum\":[\"a\",\"b\"],\"required\":false}]"};
    struct laz_error err = {0};

    if (laz_tool_set_add(&tools, &tool, NULL, NULL, 0, &err))
        CU_FAIL_FATAL("the tool was refused");
    cost_compare(WORST_ARGUMENTS, cost_arguments);
    laz_tool_set_fini(&tools);
}

static void errors_cost_alike(void)
{
    cost_compare(WORST_ERROR, cost_error);
}

static void code_costs_alike(void)
{
    cost_compare(WORST_CODE, cost_r);
    cost_compare(WORST_CODE, cost_python);
    cost_compare(WORST_CODE, cost_lua);
}

static void output_costs_alike(void)
{
    cost_compare(WORST_OUTPUT, cost_output);
}

static void quoted_output_costs_alike(void)
{
    cost_compare(WORST_OUTPUT, cost_quoted);
}

static void shown_output_costs_alike(void)
{
    cost_compare(WORST_OUTPUT, cost_shown);
}

static const struct unit_test tests[] = {
    UNIT(messages_cost_alike),      UNIT(arguments_cost_alike),
    UNIT(errors_cost_alike),        UNIT(code_costs_alike),
    UNIT(output_costs_alike),       UNIT(quoted_output_costs_alike),
    UNIT(shown_output_costs_alike), {0},
};

int main(void)
{
    return unit_run("cost", tests);
}
