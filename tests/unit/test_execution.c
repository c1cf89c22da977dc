/* SPDX-License-Identifier: MIT */
/* test_execution.c - the parts of an execution that work without a box: states, output,
 * verdicts. */
#include "unit.h"

#include "session/guard.h"
#include "job/job_private.h"
#include "loop/loop.h"
#include "session/output.h"
#include "session/result.h"
#include "session/shared.h"
#include "session/session_fsm.h"
#include "session/verdict.h"
#include "os/descriptors.h"
#include "os/process.h"
#include "os/signals.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void states_follow_the_table(void)
{
    enum laz_session_state state = LAZ_SESSION_NEW;
    static const struct {
        enum laz_session_event event;
        enum laz_session_state after;
    } life[] = {
        {LAZ_EVENT_SPAWNED, LAZ_SESSION_AUTHENTICATING},
        {LAZ_EVENT_TOKEN, LAZ_SESSION_STARTING},
        {LAZ_EVENT_READY, LAZ_SESSION_IDLE},
        {LAZ_EVENT_EXECUTE, LAZ_SESSION_RUNNING},
        {LAZ_EVENT_DONE, LAZ_SESSION_IDLE},
        {LAZ_EVENT_EXECUTE, LAZ_SESSION_RUNNING},
        {LAZ_EVENT_REPLACE, LAZ_SESSION_RESTARTING},
        {LAZ_EVENT_SPAWNED, LAZ_SESSION_AUTHENTICATING},
        {LAZ_EVENT_CLOSE, LAZ_SESSION_CLOSING},
        {LAZ_EVENT_GONE, LAZ_SESSION_CLOSED},
        {LAZ_EVENT_REPLACE, LAZ_SESSION_RESTARTING},
        {LAZ_EVENT_GONE, LAZ_SESSION_CLOSED},
    };

    for (size_t i = 0; i < sizeof life / sizeof *life; i++) {
        CU_ASSERT_TRUE(laz_session_step(&state, life[i].event, NULL, "x"));
        CU_ASSERT_EQUAL(state, life[i].after);
    }
}

static void states_refuse_illegal_events(void)
{
    static const struct {
        enum laz_session_state state;
        enum laz_session_event event;
    } rows[] = {
        {LAZ_SESSION_NEW, LAZ_EVENT_EXECUTE},      {LAZ_SESSION_IDLE, LAZ_EVENT_READY},
        {LAZ_SESSION_IDLE, LAZ_EVENT_DONE},        {LAZ_SESSION_RUNNING, LAZ_EVENT_EXECUTE},
        {LAZ_SESSION_STARTING, LAZ_EVENT_EXECUTE}, {LAZ_SESSION_AUTHENTICATING, LAZ_EVENT_READY},
        {LAZ_SESSION_CLOSED, LAZ_EVENT_EXECUTE},   {LAZ_SESSION_CLOSED, LAZ_EVENT_READY},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum laz_session_state state = rows[i].state;
        CU_ASSERT_FALSE(laz_session_step(&state, rows[i].event, NULL, "x"));
        CU_ASSERT_EQUAL(state, rows[i].state);
    }
}

/* Each phase takes the events of its row and no others, and what it does not take changes nothing.
 */
static void phases_of_a_job_take_their_events(void)
{
    static const struct {
        enum laz_job_phase phase;
        int after[LAZ_JOB_EVENTS]; /* 0: refused; no event leads to the first phase */
    } rows[] = {
        {LAZ_JOB_NEW, {[LAZ_JOB_BEGIN] = LAZ_JOB_ACQUIRING}},
        {LAZ_JOB_ACQUIRING, {[LAZ_JOB_SEAT] = LAZ_JOB_FILES, [LAZ_JOB_REPORT] = LAZ_JOB_DONE}},
        {LAZ_JOB_FILES,
         {[LAZ_JOB_RUN] = LAZ_JOB_RUNNING,
          [LAZ_JOB_INTERRUPT] = LAZ_JOB_INTERRUPTING,
          [LAZ_JOB_END] = LAZ_JOB_FINISHING}},
        {LAZ_JOB_RUNNING,
         {[LAZ_JOB_INTERRUPT] = LAZ_JOB_INTERRUPTING, [LAZ_JOB_END] = LAZ_JOB_FINISHING}},
        {LAZ_JOB_INTERRUPTING, {[LAZ_JOB_END] = LAZ_JOB_FINISHING}},
        {LAZ_JOB_FINISHING, {[LAZ_JOB_REPORT] = LAZ_JOB_DONE}},
        {LAZ_JOB_DONE, {0}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int event = 0; event < LAZ_JOB_EVENTS; event++) {
            enum laz_job_phase phase = rows[i].phase;
            const int after = rows[i].after[event];
            CU_ASSERT_EQUAL(laz_job_step(&phase, (enum laz_job_event)event, NULL, "x"), after != 0);
            CU_ASSERT_EQUAL((int)phase, after ? after : (int)rows[i].phase);
        }
}

static struct laz_buf heard;

static void hear_line(void *user, int stream, const char *text, size_t len)
{
    (void)user;
    laz_buf_printf(&heard, "%d<%.*s>", stream, (int)len, text);
}

static void output_is_cut_into_lines_by_stream(void)
{
    struct laz_output output = {.line = hear_line};

    laz_output_add(&output, 1, "a\nb", 3);
    laz_output_add(&output, 2, "x", 1);
    laz_output_add(&output, 1, "c\n\n", 3);
    laz_output_end(&output);
    UNIT_TEXT(laz_buf_text(&heard), "1<a>1<bc>1<>2<x>");
    CU_ASSERT_EQUAL(output.n_pieces, 3);
    UNIT_TEXT(laz_buf_text(&output.kept), "a\nbxc\n\n");
    laz_buf_fini(&heard);
    laz_output_fini(&output);
}

/* Tests bytes that differ from a newline in one bit, among newlines, at each position of a word. */
static void lines_of_output_are_counted_and_cut(void)
{
    static const char bytes[] = "\n\x8a\n\n\x0b\n\x00\n\xff\n\x0a\x0e\x4a\n\n\n\n\x08";

    for (size_t from = 0; from < 10; from++) {
        for (size_t len = 0; from + len < sizeof bytes; len++) {
            uint64_t lines = 0, most = 4;
            size_t end = 0, kept = len;
            for (; end < len; end++) {
                lines += bytes[from + end] == '\n';
                if (lines == most && kept == len)
                    kept = end + 1;
            }
            struct laz_output all = {.max_lines = 1000}, some = {.max_lines = most};
            laz_output_add(&all, 1, bytes + from, len);
            laz_output_add(&some, 1, bytes + from, len);
            CU_ASSERT_EQUAL(all.lines, lines);
            CU_ASSERT_EQUAL(all.kept.len, len);
            CU_ASSERT_EQUAL(some.kept.len, kept);
            CU_ASSERT_EQUAL(some.truncated, kept < len);
            laz_output_fini(&all);
            laz_output_fini(&some);
        }
    }
}

static void output_keeps_exactly_the_lines_of_its_cap(void)
{
    struct laz_output output = {.max_lines = 3, .line = hear_line};

    for (int i = 0; i < 100; i++)
        laz_output_add(&output, 1, "line\n", 5);
    laz_output_end(&output);
    UNIT_TEXT(laz_buf_text(&output.kept), "line\nline\nline\n");
    UNIT_TEXT(laz_buf_text(&heard), "1<line>1<line>1<line>");
    CU_ASSERT_TRUE(output.truncated);
    CU_ASSERT_EQUAL(output.total, 500);
    laz_buf_fini(&heard);
    laz_output_fini(&output);
}

static void output_at_its_cap_of_lines_is_not_truncated(void)
{
    struct laz_output output = {.max_lines = 2};

    laz_output_add(&output, 1, "a\nb\n", 4);
    CU_ASSERT_FALSE(output.truncated);
    laz_output_add(&output, 1, "c", 1);
    CU_ASSERT_TRUE(output.truncated);
    laz_output_fini(&output);
}

static void output_keeps_exactly_the_bytes_of_its_cap(void)
{
    struct laz_output output = {.max_bytes = 10};

    laz_output_add(&output, 1, "12345678", 8);
    laz_output_add(&output, 2, "90abc", 5);
    laz_output_add(&output, 1, "x", 1);
    UNIT_TEXT(laz_buf_text(&output.kept), "1234567890");
    CU_ASSERT_TRUE(output.truncated);
    CU_ASSERT_EQUAL(output.total, 14);
    laz_output_fini(&output);
}

static const struct laz_limit_values limits = {.cpu_s = 1,
                                               .memory_bytes = 1000,
                                               .fsize_bytes = 2000,
                                               .nproc = 5,
                                               .nofile = 5,
                                               .session_cpu_s = 2,
                                               .stack_bytes = LAZ_UNLIMITED};

static void verdict_of_a_death_needs_evidence(void)
{
    static const struct {
        int64_t exit_code;
        uint64_t cpu_us, box_us;
        enum laz_verdict verdict;
    } rows[] = {
        {0, 0, 100, LAZ_VERDICT_OK},
        {3, 0, 100, LAZ_VERDICT_ERROR},
        {128 + SIGSEGV, 0, 100, LAZ_VERDICT_CRASHED},
        {128 + SIGKILL, 0, 100, LAZ_VERDICT_CRASHED},
        {128 + SIGKILL, 3000000, 9000000, LAZ_VERDICT_CPU_LIMIT},
        {128 + SIGXCPU, 2000000, 9000000, LAZ_VERDICT_CPU_LIMIT},
        {128 + SIGXCPU, 0, 500000, LAZ_VERDICT_CRASHED},
        {128 + SIGXCPU, 900000, 9000000, LAZ_VERDICT_CRASHED},
        {128 + SIGXCPU, 0, 2100000, LAZ_VERDICT_CPU_LIMIT},
        {128 + SIGKILL, 0, 9000000, LAZ_VERDICT_CRASHED},
        {128 + SIGXFSZ, 0, 100, LAZ_VERDICT_FSIZE_LIMIT},
        {128 + SIGABRT, 5000000, 9000000, LAZ_VERDICT_CRASHED},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_exit how = {
            .known = true, .status = (int)rows[i].exit_code, .cpu_us = rows[i].cpu_us};
        struct laz_evidence evidence = {.exit = &how,
                                        .cpu_us = rows[i].cpu_us,
                                        .box_us = rows[i].box_us,
                                        .exit_code = rows[i].exit_code,
                                        .limits = &limits};
        struct laz_judgement judgement;
        laz_judge(&evidence, &judgement);
        if (judgement.verdict != rows[i].verdict)
            printf("\n    row %zu: %s (%s)", i, laz_verdict_name(judgement.verdict),
                   judgement.detail);
        CU_ASSERT_EQUAL(judgement.verdict, rows[i].verdict);
        CU_ASSERT_TRUE(judgement.replace);
        laz_buf_fini(&judgement.evidence);
    }
}

/* The kernel ends no process by the limit of an execution, so a signal never proves it. */
static void no_signal_proves_the_limit_of_an_execution(void)
{
    static const int signals[] = {SIGXCPU, SIGKILL, SIGPROF, SIGVTALRM};
    struct laz_limit_values own = limits;

    own.session_cpu_s = LAZ_UNLIMITED;
    for (size_t i = 0; i < 2 * sizeof signals / sizeof *signals; i++) {
        struct laz_exit how = {.known = true, .status = -1, .signal = signals[i / 2]};
        struct laz_evidence evidence = {.exit = &how,
                                        .cpu_us = 9000000,
                                        .box_us = 9000000,
                                        .counts_all = i % 2,
                                        .exit_code = -1,
                                        .limits = &own};
        struct laz_judgement judgement;
        laz_judge(&evidence, &judgement);
        CU_ASSERT_EQUAL(judgement.verdict, LAZ_VERDICT_CRASHED);
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&judgement.evidence), "\"cpu_ms\":9000"));
        laz_buf_fini(&judgement.evidence);
    }
}

/* An exit status above 128 is not necessarily a signal; the result says when that is unknown. */
static void a_signal_is_named_only_when_there_was_one(void)
{
    static const char evidence_of_137[] = "\"exit_status\":137,\"cpu_ms\":0";
    static const struct {
        int64_t exit_code;
        bool told;
        int signal, status; /* as reported by the kernel */
        enum laz_verdict verdict;
        const char *detail, *evidence;
    } rows[] = {
        {137, false, 0, 0, LAZ_VERDICT_CRASHED,
         "exit status 137, or by signal 9 (Killed): this system does not report which",
         evidence_of_137},
        {137, true, 0, 137, LAZ_VERDICT_ERROR, "The code ended its process with status 137",
         evidence_of_137},
        {137, true, 9, -1, LAZ_VERDICT_CRASHED, "was ended by signal 9 (Killed), cause unknown",
         "\"signal\":9,\"cpu_ms\":0"},
        {139, true, 11, -1, LAZ_VERDICT_CRASHED, "was ended by signal 11",
         "\"signal\":11,\"cpu_ms\":0"},
        {153, true, 0, 153, LAZ_VERDICT_ERROR, "with status 153",
         "\"exit_status\":153,\"cpu_ms\":0"},
        {153, true, 25, -1, LAZ_VERDICT_FSIZE_LIMIT, "A file grew",
         "\"signal\":25,\"cpu_ms\":0,\"limit_bytes\":2000"},
        {0, true, 0, 0, LAZ_VERDICT_OK, "with status 0", "\"exit_status\":0,\"cpu_ms\":0"},
        {-1, true, 9, -1, LAZ_VERDICT_CRASHED, "by signal 9", "\"signal\":9,\"cpu_ms\":0"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_exit how = {.known = true, .status = (int)rows[i].exit_code};
        struct laz_evidence evidence = {.exit = &how,
                                        .box_us = 100,
                                        .agent_ended = rows[i].told,
                                        .agent_signal = rows[i].signal,
                                        .agent_status = rows[i].status,
                                        .exit_code = rows[i].exit_code,
                                        .limits = &limits};
        struct laz_judgement judgement;
        laz_judge(&evidence, &judgement);
        CU_ASSERT_EQUAL(judgement.verdict, rows[i].verdict);
        if (!strstr(judgement.detail, rows[i].detail))
            printf("\n    row %zu: %s", i, judgement.detail);
        CU_ASSERT(strstr(judgement.detail, rows[i].detail) != NULL);
        UNIT_TEXT(laz_buf_text(&judgement.evidence), rows[i].evidence);
        laz_buf_fini(&judgement.evidence);
    }
}

/* The kernel uses different clocks for a limit and for its reports, so the reported time is
 * evidence only if it has reached the limit. */
static void evidence_does_not_contradict_its_verdict(void)
{
    static const struct {
        uint64_t cpu_us;
        const char *evidence;
    } rows[] = {
        {1900000, "\"signal\":24,\"counted_by\":\"rlimit\",\"session_limit_s\":2"},
        {2000000, "\"signal\":24,\"cpu_ms\":2000,\"session_limit_s\":2"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_evidence evidence = {.cpu_us = rows[i].cpu_us,
                                        .box_us = 9000000,
                                        .agent_ended = true,
                                        .agent_signal = SIGXCPU,
                                        .agent_status = -1,
                                        .exit_code = -1,
                                        .limits = &limits};
        struct laz_judgement judgement;
        laz_judge(&evidence, &judgement);
        CU_ASSERT_EQUAL(judgement.verdict, LAZ_VERDICT_CPU_LIMIT);
        UNIT_TEXT(laz_buf_text(&judgement.evidence), rows[i].evidence);
        laz_buf_fini(&judgement.evidence);
    }
}

static void verdict_of_the_host_comes_first(void)
{
    struct laz_exit how = {.known = true, .signal = SIGKILL, .status = -1};
    struct laz_evidence evidence = {.stop = LAZ_STOP_TIMEOUT,
                                    .stop_number = 1000,
                                    .exit = &how,
                                    .exit_code = -1,
                                    .limits = &limits};
    struct laz_judgement judgement;

    laz_judge(&evidence, &judgement);
    CU_ASSERT_EQUAL(judgement.verdict, LAZ_VERDICT_TIMEOUT);
    UNIT_TEXT(judgement.detail, "Execution timed out after 1 second");
    laz_buf_fini(&judgement.evidence);
    evidence.stop_number = 2500;
    laz_judge(&evidence, &judgement);
    UNIT_TEXT(judgement.detail, "Execution timed out after 2.5 seconds");
    laz_buf_fini(&judgement.evidence);
    evidence.stop = LAZ_STOP_TOOL_LIMIT;
    evidence.stop_number = 2;
    laz_judge(&evidence, &judgement);
    UNIT_TEXT(judgement.detail, "Maximum tool calls (2) exceeded");
    laz_buf_fini(&judgement.evidence);
}

static void verdict_of_a_report(void)
{
    static const struct {
        const char *kind;
        int64_t status;
        enum laz_verdict verdict;
        bool replace;
    } rows[] = {
        {"runtime", 0, LAZ_VERDICT_ERROR, false},
        {"syntax", 0, LAZ_VERDICT_SYNTAX_ERROR, false},
        {"memory", 0, LAZ_VERDICT_MEMORY_LIMIT, false},
        {"fsize", 0, LAZ_VERDICT_FSIZE_LIMIT, false},
        {"too_large", 0, LAZ_VERDICT_PROTOCOL_ERROR, true},
        {"exit", 0, LAZ_VERDICT_OK, true},
        {"exit", 7, LAZ_VERDICT_ERROR, true},
        {"invented", 0, LAZ_VERDICT_PROTOCOL_ERROR, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_message message = {
            .type = LAZ_MESSAGE_ERROR, .kind = (char *)rows[i].kind, .status = rows[i].status};
        struct laz_evidence evidence = {.message = &message, .exit_code = -1, .limits = &limits};
        struct laz_judgement judgement;
        laz_judge(&evidence, &judgement);
        CU_ASSERT_EQUAL(judgement.verdict, rows[i].verdict);
        CU_ASSERT_EQUAL(judgement.replace, rows[i].replace);
        laz_buf_fini(&judgement.evidence);
    }
}

static void a_status_that_is_the_value_is_no_error(void)
{
    static const struct {
        enum laz_message_type type;
        int64_t status;
        const char *value;
        int expected;
        bool replace;
    } rows[] = {
        {LAZ_MESSAGE_RESULT, 0, "0", 0, false},     {LAZ_MESSAGE_RESULT, 0, "7", 7, false},
        {LAZ_MESSAGE_RESULT, 0, "255", 255, false}, {LAZ_MESSAGE_RESULT, 0, "256", 0, false},
        {LAZ_MESSAGE_RESULT, 0, "[1]", 0, false},   {LAZ_MESSAGE_ERROR, 3, NULL, 3, true},
        {LAZ_MESSAGE_ERROR, 0, NULL, 0, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_message message = {
            .type = rows[i].type, .kind = (char *)"exit", .status = rows[i].status};
        struct laz_evidence evidence = {.message = &message,
                                        .exit_code = -1,
                                        .limits = &limits,
                                        .value = rows[i].value,
                                        .statuses = true};
        struct laz_judgement judgement;
        laz_judge(&evidence, &judgement);
        CU_ASSERT_EQUAL(judgement.verdict, LAZ_VERDICT_OK);
        CU_ASSERT_TRUE(judgement.has_status);
        CU_ASSERT_EQUAL(judgement.status, rows[i].expected);
        CU_ASSERT_EQUAL(judgement.replace, rows[i].replace);
        laz_buf_fini(&judgement.evidence);
    }
}

#define ESTIMATED 17 /* microseconds: stands for an estimate */

/* The count of a session's control group or of the watchdog overrides what the agent reports. */
static void verdict_of_the_whole_session(void)
{
    static const struct {
        enum laz_stop stop;
        uint64_t count, ran_out, cpu_us;
        const char *reported; /* "": a result; NULL: nothing, because it was killed by SIGKILL */
        enum laz_verdict verdict;
        const char *evidence;
    } rows[] = {
        {LAZ_STOP_NONE, 0, 1, 0, "", LAZ_VERDICT_MEMORY_LIMIT,
         "\"counted_by\":\"group\",\"out_of_memory\":1,\"limit_bytes\":1000"},
        {LAZ_STOP_NONE, 0, 2, 0, "runtime", LAZ_VERDICT_MEMORY_LIMIT,
         "\"counted_by\":\"group\",\"out_of_memory\":2,\"limit_bytes\":1000"},
        {LAZ_STOP_NONE, 0, 1, 0, NULL, LAZ_VERDICT_MEMORY_LIMIT,
         "\"counted_by\":\"group\",\"out_of_memory\":1,\"limit_bytes\":1000"},
        {LAZ_STOP_PROTOCOL, 0, 1, 0, NULL, LAZ_VERDICT_MEMORY_LIMIT,
         "\"counted_by\":\"group\",\"out_of_memory\":1,\"limit_bytes\":1000"},
        {LAZ_STOP_TIMEOUT, 0, 1, 0, NULL, LAZ_VERDICT_TIMEOUT, "\"timeout_ms\":0"},
        {LAZ_STOP_HOST, 0, 0, 0, NULL, LAZ_VERDICT_CRASHED, ""},
        {LAZ_STOP_MEMORY, 1200, 0, 0, NULL, LAZ_VERDICT_MEMORY_LIMIT,
         "\"used_bytes\":1200,\"counted_by\":\"who\",\"limit_bytes\":1000"},
        {LAZ_STOP_MEMORY, 0, 3, 0, "", LAZ_VERDICT_MEMORY_LIMIT,
         "\"counted_by\":\"who\",\"out_of_memory\":3,\"limit_bytes\":1000"},
        {LAZ_STOP_UNCOUNTED, 0, 0, 0, NULL, LAZ_VERDICT_MEMORY_LIMIT,
         "\"counted_by\":\"who\",\"limit_bytes\":1000,\"uncounted\":true"},
        {LAZ_STOP_CPU, 1001, 0, 0, NULL, LAZ_VERDICT_CPU_LIMIT,
         "\"cpu_ms\":1001,\"counted_by\":\"who\",\"limit_s\":1"},
        {LAZ_STOP_CPU, 1002, 0, ESTIMATED, NULL, LAZ_VERDICT_CPU_LIMIT,
         "\"cpu_ms\":1002,\"counted_by\":\"who\",\"estimated\":true,\"limit_s\":1"},
        {LAZ_STOP_SESSION_CPU, 2001, 0, 0, NULL, LAZ_VERDICT_CPU_LIMIT,
         "\"cpu_ms\":2001,\"counted_by\":\"who\",\"session_limit_s\":2"},
        {LAZ_STOP_NONE, 0, 0, 2000000, NULL, LAZ_VERDICT_CPU_LIMIT,
         "\"signal\":9,\"cpu_ms\":2000,\"session_limit_s\":2"},
        {LAZ_STOP_NONE, 0, 0, 1999999, NULL, LAZ_VERDICT_CRASHED, "\"signal\":9,\"cpu_ms\":1999"},
        {LAZ_STOP_NONE, 0, 0, 0, "", LAZ_VERDICT_OK, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_message message = {.type = LAZ_MESSAGE_RESULT, .kind = (char *)rows[i].reported};
        struct laz_exit how = {.known = true, .signal = SIGKILL, .status = -1};
        struct laz_evidence evidence = {.stop = rows[i].stop,
                                        .stop_number = rows[i].count,
                                        .stop_text = "who",
                                        .message = rows[i].reported ? &message : NULL,
                                        .exit = rows[i].reported ? NULL : &how,
                                        .cpu_us = rows[i].cpu_us,
                                        .counts_all = true,
                                        .estimated = rows[i].cpu_us == ESTIMATED,
                                        .ran_out = rows[i].ran_out,
                                        .memory_by = "group",
                                        .exit_code = -1,
                                        .limits = &limits};
        struct laz_judgement judgement;
        if (rows[i].reported && *rows[i].reported)
            message.type = LAZ_MESSAGE_ERROR;
        laz_judge(&evidence, &judgement);
        CU_ASSERT_EQUAL(judgement.verdict, rows[i].verdict);
        CU_ASSERT_EQUAL(judgement.replace, rows[i].verdict != LAZ_VERDICT_OK);
        CU_ASSERT_EQUAL(judgement.overrules, rows[i].verdict == LAZ_VERDICT_MEMORY_LIMIT);
        UNIT_TEXT(laz_buf_text(&judgement.evidence), rows[i].evidence);
        laz_buf_fini(&judgement.evidence);
    }
}

/* However many processors are busy, the limit is exceeded by at most one sampling interval. */
static void guard_looks_before_a_limit_can_be_reached(void)
{
    static const unsigned processors[] = {0, 1, 2, 64};

    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
        const unsigned n = processors[i] ? processors[i] : 1;
        const uint64_t limit_us = 60000000;
        uint64_t used_us = 0;
        int looks = 0;
        for (; used_us < limit_us && looks < 1000; looks++)
            used_us += laz_guard_cpu_pause_ms(limit_us - used_us, processors[i]) * 1000 * n;
        CU_ASSERT(used_us < limit_us + n * 5000 + 1000);
        CU_ASSERT(looks < 10);
        for (used_us = looks = 0; used_us < limit_us && looks < 1000; looks++)
            used_us += laz_guard_cpu_pause_ms(limit_us - used_us, processors[i]) * 1000;
        CU_ASSERT(looks < 700); /* one of sixty-four processors is busy */
    }
    CU_ASSERT_EQUAL(laz_guard_cpu_pause_ms(0, 2), 5);
    CU_ASSERT_EQUAL(laz_guard_cpu_pause_ms(UINT64_MAX, 1), 86400000);
    CU_ASSERT_EQUAL(laz_guard_memory_pause_ms(0, 2), 20);
    CU_ASSERT_EQUAL(laz_guard_memory_pause_ms((uint64_t)400 << 20, 2), 100);
    CU_ASSERT_EQUAL(laz_guard_memory_pause_ms(UINT64_MAX, 2), 200);
    CU_ASSERT_EQUAL(laz_guard_least_pause_ms(300), 0);
    CU_ASSERT_EQUAL(laz_guard_least_pause_ms(40000), 160); /* a fifth of the time */
    CU_ASSERT_EQUAL(laz_guard_least_pause_ms(UINT64_MAX), 1000);
    const struct laz_limit_values few = {.memory_bytes = (uint64_t)512 << 20, .nproc = 50};
    const struct laz_limit_values none = {.memory_bytes = LAZ_UNLIMITED, .nproc = LAZ_UNLIMITED};
    CU_ASSERT_EQUAL(laz_guard_look_us(&few), 1562000);
    CU_ASSERT_EQUAL(laz_guard_look_us(&none), 61000000);
}

/* One process after the other, which are in use of `permille` of a processor, on a machine that is
 * busy for `busy_ms` in a pause of `pause_ms`. */
static void what_nobody_waited_for_is_estimated(void)
{
    static const struct {
        bool unwaited;
        unsigned permille;
        uint64_t seen_us, pause_ms, busy_ms, accounted_ms, us; /* the estimate after ten looks */
    } rows[] = {
        {false, 0, 0, 20, 80, 20, 0},        /* an ordinary program, the machine is busy */
        {true, 1000, 0, 20, 80, 0, 200000},  /* others keep the machine busy as well */
        {true, 250, 0, 20, 80, 0, 50000},    /* it has waited for the processor */
        {true, 1000, 0, 20, 5, 0, 50000},    /* never more than the machine was busy */
        {true, 2000, 0, 20, 40, 20, 200000}, /* less what is accounted for */
        {true, 1000, 0, 20, 10, 20, 0},
        {true, 1000, 10000, 20, 80, 0, 100000},      /* what was seen is counted, not estimated */
        {true, 1000, 0, 60000, 120000, 0, 10000000}, /* the session was idle */
        {true, 0, 0, 20, 80, 0, 0},                  /* it slept */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct laz_tree_usage none = {0}, usage = {.unwaited = rows[i].unwaited,
                                                         .unwaited_us = rows[i].seen_us,
                                                         .unwaited_permille = rows[i].permille};
        struct laz_guard_estimate estimate = {0};
        uint64_t now = 5000000, busy = 9000000, accounted = 0;
        laz_guard_estimate(&estimate, &none, now, 0, accounted);
        for (int look = 0; look <= 10; look++) {
            CU_ASSERT(look != 1 || estimate.us == 0); /* the first one is the begin */
            laz_guard_estimate(&estimate, &usage, now += rows[i].pause_ms * 1000,
                               busy += rows[i].busy_ms * 1000,
                               accounted += rows[i].accounted_ms * 1000);
        }
        if (estimate.us != rows[i].us)
            printf("\n    row %zu: %llu", i, (unsigned long long)estimate.us);
        CU_ASSERT_EQUAL(estimate.us, rows[i].us);
    }
}

static void verdicts_have_the_exit_statuses_of_the_documents(void)
{
    static const struct {
        enum laz_verdict verdict;
        const char *name;
        int status;
    } rows[] = {
        {LAZ_VERDICT_OK, "ok", 0},
        {LAZ_VERDICT_ERROR, "error", 1},
        {LAZ_VERDICT_SYNTAX_ERROR, "syntax_error", 1},
        {LAZ_VERDICT_TIMEOUT, "timeout", 124},
        {LAZ_VERDICT_DEADLINE, "deadline", 124},
        {LAZ_VERDICT_CPU_LIMIT, "cpu_limit", 137},
        {LAZ_VERDICT_MEMORY_LIMIT, "memory_limit", 137},
        {LAZ_VERDICT_FSIZE_LIMIT, "fsize_limit", 137},
        {LAZ_VERDICT_TOOL_LIMIT, "tool_limit", 137},
        {LAZ_VERDICT_OUTPUT_LIMIT, "output_limit", 137},
        {LAZ_VERDICT_BLOCKED, "blocked", 126},
        {LAZ_VERDICT_CANCELLED, "cancelled", 130},
        {LAZ_VERDICT_PROTOCOL_ERROR, "protocol_error", 70},
        {LAZ_VERDICT_CRASHED, "crashed", 70},
        {LAZ_VERDICT_SETUP_FAILED, "setup_failed", 125},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        UNIT_TEXT(laz_verdict_name(rows[i].verdict), rows[i].name);
        CU_ASSERT_EQUAL(laz_verdict_exit_status(rows[i].verdict), rows[i].status);
    }
}

static void a_result_is_one_json_object(void)
{
    struct laz_result *result =
        laz_result_nothing_ran(LAZ_VERDICT_BLOCKED, "blocked", "no \"quotes\"\n");

    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    laz_output_add(&result->output, 1, "x\xff\n", 3);
    UNIT_TEXT(
        laz_result_json(result),
        "{\"ok\":false,\"value\":null,\"value_omitted\":false,\"text\":null,"
        "\"output\":[{\"stream\":\"stdout\",\"text\":\"x\xef\xbf\xbd\\n\"}],"
        "\"truncated\":false,"
        "\"error\":{\"kind\":\"blocked\",\"message\":\"no \\\"quotes\\\"\\n\",\"traceback\":[]},"
        "\"warnings\":[],\"denials\":[],\"credentials\":[],\"artifacts\":[],\"artifacts_lost\":[],\"verdict\":{"
        "\"reason\":"
        "\"blocked\","
        "\"detail\":\"no \\\"quotes\\\"\\n\",\"evidence\":{}},\"replaced\":null,\"kept\":false,"
        "\"usage\":{\"wall_ms\":0.000,\"cpu_ms\":0.000,\"max_rss_bytes\":0,\"tool_calls\":0},"
        "\"isolation\":null,\"session\":null}");
    laz_result_free(result);
    laz_result_free(NULL);
}

static void a_large_result_is_told_from_others(void)
{
    struct laz_result *result = laz_result_nothing_ran(LAZ_VERDICT_BLOCKED, "blocked", "");
    char *text = calloc(1, LAZ_RESULT_LARGE);

    CU_ASSERT_FATAL(result && text);
    memset(text, 'x', LAZ_RESULT_LARGE);
    laz_output_add(&result->output, 1, text, LAZ_RESULT_LARGE - strlen("null"));
    CU_ASSERT_FALSE(laz_result_is_large(result, true));
    laz_output_add(&result->output, 2, "x", 1);
    CU_ASSERT_TRUE(laz_result_is_large(result, false));
    laz_result_free(result);
    free(text);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void never(void *user)
{
    (void)user;
    CU_FAIL("a closed timer was due");
}

static void never_ready(void *user, uint32_t events)
{
    (void)events;
    never(user);
}

/* A provider that forgets a watch must not hold up the application for ever. */
static void loop_ends_with_what_was_left_in_it(void)
{
    struct laz_loop *loop;
    int ends[2];

    CU_ASSERT_FATAL(laz_loop_new(&loop, NULL) == 0);
    CU_ASSERT_FATAL(laz_os_cloexec_pipe(&ends[0], &ends[1], NULL) == 0);
    struct laz_timer *timer = laz_timer_new(loop, never, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timer);
    laz_timer_start(timer, 3600000);
    CU_ASSERT_PTR_NOT_NULL(laz_io_start(loop, ends[0], LAZ_IO_READ, never_ready, NULL));
    CU_ASSERT_EQUAL(laz_loop_handles(loop), 2);
    laz_loop_free(loop); /* it returns */
    laz_os_close(&ends[0]);
    laz_os_close(&ends[1]);
}

static const struct unit_test tests[] = {
    UNIT(states_follow_the_table),
    UNIT(lines_of_output_are_counted_and_cut),
    UNIT(states_refuse_illegal_events),
    UNIT(phases_of_a_job_take_their_events),
    UNIT(output_is_cut_into_lines_by_stream),
    UNIT(output_keeps_exactly_the_lines_of_its_cap),
    UNIT(output_at_its_cap_of_lines_is_not_truncated),
    UNIT(output_keeps_exactly_the_bytes_of_its_cap),
    UNIT(verdict_of_a_death_needs_evidence),
    UNIT(no_signal_proves_the_limit_of_an_execution),
    UNIT(a_signal_is_named_only_when_there_was_one),
    UNIT(evidence_does_not_contradict_its_verdict),
    UNIT(verdict_of_the_host_comes_first),
    UNIT(verdict_of_a_report),
    UNIT(a_status_that_is_the_value_is_no_error),
    UNIT(verdict_of_the_whole_session),
    UNIT(guard_looks_before_a_limit_can_be_reached),
    UNIT(what_nobody_waited_for_is_estimated),
    UNIT(verdicts_have_the_exit_statuses_of_the_documents),
    UNIT(a_result_is_one_json_object),
    UNIT(a_large_result_is_told_from_others),
    UNIT(loop_ends_with_what_was_left_in_it),
    {0},
};

int main(void)
{
    return unit_run("execution", tests);
}
