/* SPDX-License-Identifier: MIT */
/* test_values.c - values of every size and form, between a tool and code in a real box.
 *
 * Large values are compared by length and Adler-32 checksum, computed on both sides, which detects
 * lost, repeated or reordered pieces. Forms are compared as the JSON that comes back. */
#include "live.h"

#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADLER_MODULUS 65521u
#define OVER_LIMIT    "max_message_size (1048576 bytes)"

static uint32_t adler(const char *text, size_t len)
{
    uint64_t a = 1, b = 0;

    for (size_t i = 0; i < len; i++) {
        a += (unsigned char)text[i];
        b += a;
        if (i % 4096 == 4095) {
            a %= ADLER_MODULUS;
            b %= ADLER_MODULUS;
        }
    }
    return (uint32_t)(b % ADLER_MODULUS) << 16 | (uint32_t)(a % ADLER_MODULUS);
}

/* Defines sum(text), the same function, and letters(n), text of n bytes. */
static const struct phrase define_sum = {
    .python = "import zlib\n"
              "def sum(s):\n"
              "    b = s.encode()\n"
              "    return '%d:%d' % (len(b), zlib.adler32(b))\n"
              "def letters(n):\n"
              "    return ('abcdefghijklmnopqrstuvwxyz' * (n // 26 + 1))[:n]\n",
    .r = "sum <- function(s) {\n"
         "  bytes <- charToRaw(s); a <- 1; b <- 0; at <- 0; n <- length(bytes)\n"
         "  while (at < n) {\n"
         "    part <- as.integer(bytes[(at + 1):min(n, at + 65536)]); k <- length(part)\n"
         "    b <- (b + k * a + base::sum(as.numeric(k:1) * part)) %% 65521\n"
         "    a <- (a + base::sum(part)) %% 65521\n"
         "    at <- at + k\n"
         "  }\n"
         "  sprintf('%.0f:%.0f', n, b * 65536 + a)\n"
         "}\n"
         "letters <- function(n)\n"
         "  substr(strrep('abcdefghijklmnopqrstuvwxyz', n %/% 26 + 1), 1, n)\n",
    .lua = "function sum(s)\n"
           "  local a, b = 1, 0\n"
           "  for i = 1, #s do\n"
           "    a = a + s:byte(i); b = b + a\n"
           "    if i % 4096 == 0 then a = a % 65521; b = b % 65521 end\n"
           "  end\n"
           "  return string.format('%d:%d', #s, (b % 65521) << 16 | a % 65521)\n"
           "end\n"
           "function letters(n)\n"
           "  return string.sub(string.rep('abcdefghijklmnopqrstuvwxyz', n // 26 + 1), 1, n)\n"
           "end\n",
};

/* ---- tools ---------------------------------------------------------------------------------- */

static char blob_sum[48];    /* checksum of the last blob */
static char measured[48];    /* checksum of the last argument of measure */
static struct laz_buf given; /* the raw argument of the last echo */
static const char *sample;   /* the value of give() */

/* {n}: a string of n letters without a pattern */
static void tool_blob(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    size_t n = strtoull(args + strcspn(args, "0123456789"), NULL, 10);
    char *text = malloc(n + 2);
    uint32_t random = 12345;

    (void)user, (void)len;
    text[0] = text[n + 1] = '"';
    for (size_t i = 1; i <= n; i++) {
        random = random * 1103515245u + 12345u;
        text[i] = (char)('a' + (random >> 16) % 26);
    }
    snprintf(blob_sum, sizeof blob_sum, "\"%zu:%u\"", n, adler(text + 1, n));
    laz_reply_value(reply, text, n + 2);
    free(text);
}

/* {x}: a string of letters, whose length and checksum are recorded */
static void tool_measure(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user;
    /* {"x":"..."} */
    snprintf(measured, sizeof measured, "\"%zu:%u\"", len - 8, adler(args + 6, len - 8));
    laz_reply_value(reply, "true", 4);
}

static void tool_give(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_value(reply, sample, strlen(sample));
}

static void tool_take(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user;
    laz_buf_clear(&given);
    laz_buf_append(&given, args + 5, len - 6);
    laz_reply_value(reply, "true", 4);
}

static const struct {
    struct laz_tool tool;
    void (*call)(void *user, const char *args, size_t len, struct laz_reply *reply);
} value_tools[] = {
    {{.name = "blob", .description = "", .parameters = "[{\"name\":\"n\",\"type\":\"integer\"}]"},
     tool_blob},
    {{.name = "measure", .description = "", .parameters = "[{\"name\":\"x\",\"type\":\"string\"}]"},
     tool_measure},
    {{.name = "give", .description = ""}, tool_give},
    {{.name = "take", .description = "", .parameters = "[{\"name\":\"x\"}]"}, tool_take},
};

/* An engine with these tools, and its session with the functions above; NULL: no such language. */
static struct laz_session *open_session(const struct words *w, const char *settings,
                                        struct laz_engine **engine)
{
    *engine = test_engine(settings);
    if (*engine)
        test_hold_clock(*engine); /* a large value may take long */
    for (size_t t = 0; *engine && t < sizeof value_tools / sizeof *value_tools; t++) {
        struct laz_tool tool = value_tools[t].tool;
        tool.size = sizeof tool;
        CU_ASSERT_EQUAL(laz_engine_add_tool(*engine, &tool, value_tools[t].call, NULL, NULL), 0);
    }
    struct laz_session *session = test_session(*engine, w->runtime);
    if (session)
        laz_result_free(test_run(session, test_phrase(w, &define_sum), NULL));
    return session;
}

static struct {
    struct laz_engine *engine;
    struct laz_session *session;
} kept[3]; /* shared by all cases with the default settings, of which none ends its session */

static void each(void (*body)(struct laz_session *, const struct words *))
{
    const char *only = getenv("TEST_RUNTIME");

    for (size_t i = 0; i < n_languages && i < sizeof kept / sizeof *kept; i++) {
        if (only && strcmp(only, languages[i].runtime) != 0)
            continue;
        if (!kept[i].engine)
            kept[i].session =
                open_session(&languages[i], "artifacts.max_size=1MiB", &kept[i].engine);
        if (kept[i].session)
            body(kept[i].session, &languages[i]);
    }
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static void receiving(struct laz_session *session, const struct words *w)
{
    static const size_t sizes[] = {1, 65536, 65537, 1048576, 4194304, 16777216};
    const size_t last = strcmp(w->runtime, "python") == 0 ? 1 : 0; /* others compute slowly */
    char code[64];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes - 1 + last; i++) {
        snprintf(code, sizeof code, "sum(blob(%zu))", sizes[i]);
        *blob_sum = '\0';
        struct laz_result *result = test_run(session, code, NULL);
        if (!result)
            return;
        UNIT_TEXT(laz_result_value(result), blob_sum);
        laz_result_free(result);
    }
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
}

static void tool_values_of_any_size_arrive_intact(void)
{
    each(receiving);
}

static void sending(struct laz_session *session, const struct words *w)
{
    static const size_t sizes[] = {1, 65536, 65537, 1048576 - 200};
    static const struct phrase prefix = {"", "", "local "}, suffix = {"", "", "return "};
    char code[128];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(code, sizeof code, "%sx = letters(%zu)\nr = measure(x)\n%ssum(x)",
                 test_phrase(w, &prefix), sizes[i], test_phrase(w, &suffix));
        *measured = '\0';
        struct laz_result *result = test_run(session, code, NULL);
        if (!result)
            return;
        UNIT_TEXT(laz_result_value(result), measured);
        laz_result_free(result);
    }
}

static void arguments_up_to_the_limit_arrive_intact(void)
{
    each(sending);
}

static void sending_too_much(struct laz_session *session, const struct words *w)
{
    static const struct phrase catching = {
        .python = "try:\n    measure(letters(1048576))\nexcept Exception as e:\n    r = str(e)\nr",
        .r = "tryCatch(measure(letters(1048576)), error = function(e) conditionMessage(e))",
        .lua = "local ok, e = pcall(measure, letters(1048576))\nreturn tostring(e)",
    };
    int64_t pid = laz_session_pid(session);

    test_expect(session, w->set_x, LAZ_VERDICT_OK, NULL);
    *measured = '\0';
    struct laz_result *result = test_run(session, test_phrase(w, &catching), NULL);
    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT_TRUE(test_result_has(result, OVER_LIMIT));
    laz_result_free(result);
    UNIT_TEXT(measured, ""); /* the tool was not called */
    test_expect_error(session, "measure(letters(3000000))", LAZ_VERDICT_ERROR, OVER_LIMIT);
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
    test_expect(session, w->get_x, LAZ_VERDICT_OK, "42");
    CU_ASSERT_EQUAL(laz_session_pid(session), pid);
}

static void an_argument_over_the_limit_is_a_catchable_error(void)
{
    each(sending_too_much);
}

static void returning_too_much(struct laz_session *session, const struct words *w)
{
    int64_t pid = laz_session_pid(session);

    test_expect(session, w->set_x, LAZ_VERDICT_OK, NULL);
    struct laz_result *result = test_run(session, "letters(2000000)", NULL);
    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT(laz_result_is_value_omitted(result));
    CU_ASSERT(test_result_has(result, "\"value_omitted\":true"));
    CU_ASSERT(test_result_has(result, "value_omitted: the value exceeds session." OVER_LIMIT));
    CU_ASSERT(laz_result_outputs(result) || laz_result_text(result));
    laz_result_free(result);
    result = test_run(session, w->get_x, NULL);
    CU_ASSERT_FALSE(laz_result_is_value_omitted(result));
    laz_result_free(result);
    result = test_run(session, "letters(2000000)", NULL);
    if (!result)
        return;
    UNIT_TEXT(laz_result_value(result), "null");
    laz_result_free(result);
    test_expect(session, w->get_x, LAZ_VERDICT_OK, "42");
    CU_ASSERT_EQUAL(laz_session_pid(session), pid);
}

static void a_value_over_the_limit_is_omitted(void)
{
    each(returning_too_much);
}

/* Of an assignment in R it costs nothing unless it is asked for; and so is the form of R alone. */
static void an_invisible_value_and_a_native_one_come_when_asked_for(void)
{
    const struct words r = {.runtime = "r"};
    struct laz_execute_options asks = LAZ_EXECUTE_OPTIONS_INIT;
    struct laz_engine *engine;
    struct laz_session *session = open_session(&r, "", &engine);
    struct laz_result *result = session ? test_run(session, "x <- 1:3", NULL) : NULL;

    asks.invisible = 1;
    if (result) {
        CU_ASSERT_FALSE(laz_result_is_value_omitted(result));
        UNIT_TEXT(laz_result_value(result), "null");
        laz_result_free(result);
        result = test_run(session, "invisible(x)", &asks);
        UNIT_TEXT(laz_result_value(result), "[1,2,3]");
        CU_ASSERT_PTR_NULL(laz_result_text(result));
        laz_result_free(result);
        asks.native = 1;
        result = test_run(session, "x", &asks);
        UNIT_TEXT(laz_result_value(result), "{\"$r\":{\"type\":\"integer\",\"values\":[1,2,3]}}");
    }
    laz_result_free(result);
    laz_session_free(session);
    laz_engine_free(engine);
}

/* The host makes it the error of a tool, as any other; so one language stands for all. */
static void a_tool_value_over_its_limit_is_a_catchable_error(void)
{
    const struct words lua = {.runtime = "lua"};
    struct laz_engine *engine;
    struct laz_session *session = open_session(&lua, "session.max_value_size=1MiB", &engine);
    struct laz_result *result =
        test_run(session, "local ok, e = pcall(blob, 1048576)\nreturn tostring(e)", NULL);

    if (!result)
        goto out;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT_TRUE(test_result_has(result, "max_value_size (1048576 bytes)"));
    laz_result_free(result);
    result = test_run(session, "sum(blob(1048000))", NULL);
    UNIT_TEXT(laz_result_value(result), blob_sum);
    laz_result_free(result);
out:
    laz_engine_free(engine); /* and its session */
}

/* ---- forms ---------------------------------------------------------------------------------- */

#define SAME  NULL
#define MINUS "{\"$int\":\"-9007199254740993\"}"
#define BOTH  "[{\"$int\":\"9007199254740993\"},{\"$int\":\"9007199254740995\"}]"

/* Values that come back in another form, as documented in docs/values-*.md. A number may be written
 * differently; Lua sorts names. */
static const struct {
    const char *json;
    struct phrase back;
} forms[] = {
    {"true", {SAME, SAME, SAME}},
    {"false", {SAME, SAME, SAME}},
    {"2", {SAME, SAME, SAME}},
    {"2.0", {SAME, "2", SAME}},
    {"-0.1", {SAME, SAME, SAME}},
    {"0.30000000000000004", {SAME, SAME, SAME}},
    {"1.7976931348623157e+308", {SAME, SAME, SAME}},
    {"5e-324", {SAME, "4.94065645841247e-324", "4.94065645841247e-324"}},
    {"9007199254740992", {SAME, SAME, SAME}},
    {"-9007199254740992", {SAME, SAME, SAME}},
    {"{\"$int\":\"9007199254740993\"}", {SAME, SAME, SAME}},
    {"-9007199254740993", {MINUS, MINUS, MINUS}},
    {"[9007199254740993,9007199254740995]", {BOTH, BOTH, BOTH}},
    {"{\"$int\":\"-9223372036854775808\"}", {SAME, SAME, SAME}},
    {"{\"$num\":\"NaN\"}", {SAME, SAME, SAME}},
    {"{\"$num\":\"Inf\"}", {SAME, SAME, SAME}},
    {"{\"$num\":\"-Inf\"}", {SAME, SAME, SAME}},
    {"\"\"", {SAME, SAME, SAME}},
    {"\"text\"", {SAME, SAME, SAME}},
    {"\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"", {SAME, SAME, SAME}},
    {"\"a\\\"b\\\\c\\nd\\te\"", {SAME, SAME, SAME}},
    {"{\"$bytes\":\"AP/+gA==\"}", {SAME, SAME, SAME}},
    {"{\"$bytes\":\"aGk=\"}", {SAME, SAME, "\"hi\""}},
    {"{\"$date\":\"2024-01-31\"}", {SAME, SAME, SAME}},
    {"{\"$time\":\"2024-01-31T12:00:00Z\"}", {SAME, SAME, SAME}},
    {"{\"$na\":\"double\"}", {"null", SAME, SAME}},
    {"{\"$na\":\"character\"}", {"null", SAME, SAME}},
    {"{\"$complex\":[1.5,-2.5]}", {SAME, SAME, SAME}},
    {"{\"$factor\":{\"levels\":[\"a\",\"b\"],\"values\":[\"b\",null,\"a\"],\"ordered\":false}}",
     {"[\"b\",null,\"a\"]", SAME,
      "{\"$factor\":{\"levels\":[\"a\",\"b\"],\"ordered\":false,\"values\":[\"b\",null,\"a\"]}}"}},
    {"{\"$frame\":{\"names\":[\"x\",\"y\"],\"columns\":[[1,2],[\"a\",\"b\"]],\"rows\":2}}",
     {"{\"x\":[1,2],\"y\":[\"a\",\"b\"]}", SAME,
      "{\"$frame\":{\"columns\":[[1,2],[\"a\",\"b\"]],\"names\":[\"x\",\"y\"],\"rows\":2}}"}},
    {"{\"$frame\":{\"names\":[\"t\"],\"columns\":[[{\"$date\":\"2024-01-31\"},null]],\"rows\":2}}",
     {"{\"t\":[{\"$date\":\"2024-01-31\"},null]}",
      "{\"$frame\":{\"names\":[\"t\"],\"columns\":[[{\"$date\":\"2024-01-31\"},{\"$na\":\"double\"}"
      "]],\"rows\":2}}",
      "{\"$frame\":{\"columns\":[[{\"$date\":\"2024-01-31\"},null]],\"names\":[\"t\"],\"rows\":2}"
      "}"}},
    {"{\"$frame\":{\"names\":[\"t\"],\"columns\":[[null,{\"$time\":\"2024-01-31T12:00:00Z\"}]],"
     "\"rows\":2}}",
     {"{\"t\":[null,{\"$time\":\"2024-01-31T12:00:00Z\"}]}",
      "{\"$frame\":{\"names\":[\"t\"],\"columns\":[[{\"$na\":\"double\"},{\"$time\":\"2024-01-"
      "31T12:00:00Z\"}]],\"rows\":2}}",
      "{\"$frame\":{\"columns\":[[null,{\"$time\":\"2024-01-31T12:00:00Z\"}]],\"names\":[\"t\"],"
      "\"rows\":2}}"}},
    {"{\"$map\":[[1,\"a\"],[\"b\",2]]}", {SAME, SAME, SAME}},
    {"[]", {SAME, SAME, SAME}},
    {"[1]", {SAME, SAME, SAME}},
    {"[1,2.5,-3]", {SAME, SAME, SAME}},
    {"[\"a\",\"b\"]", {SAME, SAME, SAME}},
    {"[1,null,{\"$num\":\"NaN\"}]", {SAME, SAME, SAME}},
    {"[1,\"a\",true,null,[2,[3]],{\"k\":[]}]", {SAME, SAME, SAME}},
    {"{}", {SAME, SAME, SAME}},
    {"{\"a\":1,\"b\":{\"c\":[true,false]},\"d\":\"\xc3\xa9\"}", {SAME, SAME, SAME}},
};

static void round_trip(struct laz_session *session, const struct words *w)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *back = test_phrase(w, &forms[i].back);
        sample = forms[i].json;
        laz_buf_clear(&given);
        test_expect(session, "take(give())", LAZ_VERDICT_OK, "true");
        UNIT_TEXT(laz_buf_text(&given), back ? back : sample);
        test_expect(session, "give()", LAZ_VERDICT_OK, back ? back : sample);
    }
    sample = "null";
    test_expect(session, "give()", LAZ_VERDICT_OK, "null");
    laz_buf_fini(&given);
}

static void every_form_of_value_comes_back(void)
{
    each(round_trip);
}

static const struct unit_test tests[] = {
    UNIT(tool_values_of_any_size_arrive_intact),
    UNIT(arguments_up_to_the_limit_arrive_intact),
    UNIT(an_argument_over_the_limit_is_a_catchable_error),
    UNIT(a_value_over_the_limit_is_omitted),
    UNIT(an_invisible_value_and_a_native_one_come_when_asked_for),
    UNIT(a_tool_value_over_its_limit_is_a_catchable_error),
    UNIT(every_form_of_value_comes_back),
    {0},
};

int main(void)
{
    int status = unit_run("values", tests);

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        laz_engine_free(kept[i].engine); /* and its session */
    return status;
}
