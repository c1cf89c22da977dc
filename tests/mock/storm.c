/* SPDX-License-Identifier: MIT */
/* storm.c (mock) - random and broken messages, from a seed.
 *
 * The greater `calm`, the more messages are legal during an execution, so that a sequence lasts
 * longer; the rest are legal messages with some bytes changed, random JSON, legal messages of
 * another state or direction, and random bytes. The same seed gives the same messages. */
#include "storm.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static uint64_t storm_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static size_t storm_pick(uint64_t *state, size_t n)
{
    return (size_t)(storm_random(state) % n);
}

/* %lld is the id of the execution. */
static const char *const storm_calls[] = {
    "{\"type\":\"tool_call\",\"id\":1,\"tool\":\"nothing\",\"args\":null}",
    "{\"type\":\"tool_call\",\"id\":2,\"tool\":\"add\",\"args\":{\"a\":1,\"b\":2.5e-3}}",
    "{\"type\":\"tool_call\",\"id\":3,\"tool\":\"add\",\"args\":{\"b\":\"x\",\"a\":[]}}",
    "{\"type\":\"tool_call\",\"id\":4,\"tool\":\"fail\",\"args\":{}}",
    "{\"type\":\"tool_call\",\"id\":5,\"tool\":\"no.such_tool\",\"args\":{\"a\":{\"b\":[1]}}}",
    "{\"type\":\"tool_call\",\"id\":6,\"tool\":\"../x\",\"args\":{\"\":0}}",
    "{\"type\":\"tool_call\",\"tool\":\"echo\",\"args\":{\"x\":[true,null,\"\\u20ac\"]}}",
    "{\"type\":\"tool_call\",\"id\":1,\"tool\":\"echo\",\"args\":{\"x\":{\"$num\":\"NaN\"}}}",
    " {\"extra\":[{}],\"type\":\"tool_call\",\"tool\":\"nothing\",\"id\":-9007199254740991}\r",
};

static const char *const storm_others[] = {
    "{\"type\":\"result\",\"id\":%lld,\"value\":1,\"text\":\"1\",\"visible\":true}",
    ("{\"type\":\"error\",\"id\":%lld,\"kind\":\"runtime\",\"message\":\"m\",\"line\":3,"
     "\"traceback\":[\"a\",\"b\"]}"),
    "{\"type\":\"error\",\"id\":%lld,\"kind\":\"setup\",\"message\":\"m\"}",
    "{\"type\":\"error\",\"id\":%lld,\"kind\":\"exit\",\"status\":3}",
    "{\"type\":\"result\",\"id\":77%lld,\"value\":666}",
    "{\"type\":\"ready\",\"protocol\":1,\"runtime\":\"mock\",\"version\":\"%lld\"}",
    "{\"type\":\"init\",\"protocol\":%lld,\"options\":{},\"confine\":{},\"tools\":[]}",
    "{\"type\":\"execute\",\"id\":%lld,\"code\":\"ok 1\",\"print\":true}",
    "{\"type\":\"exit\"}",
    "{\"id\":%lld,\"value\":3}",
    "{\"id\":%lld,\"error\":\"no\"}",
};

#define N(list) (sizeof(list) / sizeof *(list))

static size_t storm_template(uint64_t *state, long long id, char *out)
{
    bool call = storm_pick(state, 2) == 0;
    const char *text = call ? storm_calls[storm_pick(state, N(storm_calls))]
                            : storm_others[storm_pick(state, N(storm_others))];
    const char *mark = strstr(text, "%lld");

    if (!mark)
        return (size_t)snprintf(out, STORM_MAX, "%s", text);
    return (size_t)snprintf(out, STORM_MAX, "%.*s%lld%s", (int)(mark - text), text, id, mark + 4);
}

/* Sets, flips, removes or inserts one to five bytes. */
static size_t storm_change(uint64_t *state, char *out, size_t len)
{
    static const char special[] = "\"\\{}[]:,0-.eE\n\r\t \x00\x01\x7f\xc3\xff\xed";

    for (size_t n = 1 + storm_pick(state, 5); n && len > 1; n--) {
        size_t at = storm_pick(state, len);
        switch (storm_pick(state, 4)) {
        case 0:
            out[at] = special[storm_pick(state, sizeof special - 1)];
            break;
        case 1:
            out[at] = (char)(out[at] ^ (1 << storm_pick(state, 8)));
            break;
        case 2:
            memmove(out + at, out + at + 1, len - at - 1);
            len--;
            break;
        default:
            if (len + 1 < STORM_MAX) {
                memmove(out + at + 1, out + at, len - at);
                len++;
            }
        }
    }
    return len;
}

/* Writes a value: scalars of every kind, valid and invalid, and containers of them. */
static size_t storm_value(uint64_t *state, char *out, size_t room, unsigned depth)
{
    static const char *const scalars[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1e308",
        "1e999",
        "-1.5E-400",
        "9007199254740993",
        "01",
        "NaN",
        "\"\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"\xff\"",
        "\"\xe2\x80\xa8\"",
        "18446744073709551616",
        "{\"$num\":\"Inf\"}",
        "\"type\"",
    };
    size_t len = 0;

    if (room < 64)
        return 0;
    if (depth > 70 || storm_pick(state, 3))
        return (size_t)snprintf(out, room, "%s", scalars[storm_pick(state, N(scalars))]);
    bool object = storm_pick(state, 2) == 0;
    out[len++] = object ? '{' : '[';
    for (size_t n = storm_pick(state, 4), i = 0; i < n && room - len > 80; i++) {
        if (i)
            out[len++] = ',';
        if (object)
            len += (size_t)snprintf(out + len, room - len,
                                    "\"%c\":", (int)('a' + (int)storm_pick(state, 3)));
        len += storm_value(state, out + len, room - len - 8, depth + 1);
    }
    out[len++] = object ? '}' : ']';
    return len;
}

static size_t storm_json(uint64_t *state, char *out)
{
    size_t len = (size_t)snprintf(out, STORM_MAX, "{\"type\":\"tool_call\",\"tool\":\"echo\",");

    len += (size_t)snprintf(out + len, STORM_MAX - len, "\"args\":{\"x\":");
    for (size_t deep = storm_pick(state, 8) ? 0 : storm_pick(state, 100); deep; deep--)
        out[len++] = '[';
    len += storm_value(state, out + len, STORM_MAX / 2, 0);
    out[len++] = '}';
    out[len++] = '}';
    return len;
}

static size_t storm_bytes(uint64_t *state, char *out)
{
    size_t len = storm_pick(state, 300);

    for (size_t i = 0; i < len; i++)
        out[i] = (char)storm_pick(state, 256);
    return len;
}

size_t storm_message(uint64_t *state, long long id, unsigned calm, char out[STORM_MAX])
{
    size_t len;

    switch (storm_pick(state, 6 + calm)) {
    case 0:
        len = storm_bytes(state, out);
        break;
    case 1:
        len = storm_template(state, id, out);
        break;
    case 2:
    case 3:
        len = storm_change(state, out, storm_template(state, id, out));
        break;
    case 4:
    case 5:
        len = storm_json(state, out);
        break;
    default:
        len =
            (size_t)snprintf(out, STORM_MAX, "%s", storm_calls[storm_pick(state, N(storm_calls))]);
    }
    if (storm_pick(state, 8 * calm))
        out[len++] = '\n';
    return len;
}
