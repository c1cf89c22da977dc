/* SPDX-License-Identifier: MIT */
/* test_agent_calls.c - several open calls of tools, seen from the host's end of the channel.
 *
 * The agent runs tests/mock/script.c; the host is made of plain system calls and decides when it
 * answers, in which order, and in how many pieces. */
#include "peer.h"

#include "base/json.h"
#include "unit.h"

#include <lazaret/error.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef LAZ_SANITIZE
#define UNDER_SANITIZERS true
#else
#define UNDER_SANITIZERS false
#endif

#define TOOL_ECHO "{\"name\":\"echo\",\"description\":\"d\",\"parameters\":[]}"
#define MOST_OPEN 1024 /* the limit of the protocol */

static bool member_is(const char *line, const char *name, const char *expected)
{
    const char *raw;
    size_t len;

    if (!line || !laz_json_member(line, strlen(line), name, &raw, &len)) {
        printf("\n    no member %s in: %.200s\n", name, line ? line : "(no line)");
        return false;
    }
    if (strlen(expected) == len && memcmp(raw, expected, len) == 0)
        return true;
    printf("\n    member %s is %.*s\n", name, (int)(len < 300 ? len : 300), raw);
    return false;
}

static void execute(struct peer *peer, const char *code)
{
    CU_ASSERT(
        peer_send(peer, "{\"type\":\"execute\",\"id\":1,\"code\":\"%s\",\"print\":true}", code));
}

/* The id of the next line, which is a call with the argument i; 0 when it is not. */
static long take_call(struct peer *peer, long i)
{
    const char *line = peer_line(peer), *raw;
    char args[32];
    size_t len;

    snprintf(args, sizeof args, "{\"i\":%ld}", i);
    if (!member_is(line, "type", "\"tool_call\"") || !member_is(line, "args", args) ||
        !laz_json_member(line, strlen(line), "id", &raw, &len))
        return 0;
    return strtol(raw, NULL, 10);
}

/* Takes the calls 0 to n - 1, all of them before one is answered. */
static bool take_calls(struct peer *peer, long *ids, long n)
{
    for (long i = 0; i < n; i++) {
        ids[i] = take_call(peer, i);
        if (!ids[i])
            return false;
    }
    return true;
}

static void calls_go_out_together_and_answers_come_in_any_order(void)
{
    static const long order[] = {3, 0, 4, 2, 1};
    struct peer peer;
    long ids[5];

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        execute(&peer, "many 5 echo");
        CU_ASSERT_FATAL(take_calls(&peer, ids, 5));
        for (size_t i = 0; i < 5; i++)
            if (order[i] == 2)
                peer_send(&peer, "{\"id\":%ld,\"error\":\"no %ld\"}", ids[2], order[i]);
            else
                peer_send(&peer, "{\"id\":%ld,\"value\":\"%.*s\"}", ids[order[i]], (int)order[i],
                          "xxxxx");
        CU_ASSERT(member_is(peer_line(&peer), "value", "[[0,2],[0,3],[-12,\"no 2\"],[0,5],[0,6]]"));
        execute(&peer, "race 5 echo");
        CU_ASSERT_FATAL(take_calls(&peer, ids, 5));
        for (size_t i = 0; i < 5; i++)
            peer_send(&peer, "{\"id\":%ld,\"value\":%ld}", ids[order[i]], order[i]);
        CU_ASSERT(
            member_is(peer_line(&peer), "value", "[[3,0,1],[0,0,1],[4,0,1],[2,0,1],[1,0,1]]"));
        execute(&peer, "many 0 echo");
        CU_ASSERT(member_is(peer_line(&peer), "value", "[]"));
    }
    peer_close(&peer);
}

static void no_more_calls_are_open_than_the_host_takes(void)
{
    struct peer peer;
    long ids[MOST_OPEN], id;

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        execute(&peer, "open 3000 echo");
        CU_ASSERT_FATAL(take_calls(&peer, ids, MOST_OPEN));
        CU_ASSERT(member_is(peer_line(&peer), "value", "1024")); /* and no further call */
    }
    peer_close(&peer);
    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        execute(&peer, "many 3000 echo");
        CU_ASSERT_FATAL(take_calls(&peer, ids, MOST_OPEN));
        for (long i = MOST_OPEN; i < 3000; i++) { /* each answer allows one more call */
            peer_send(&peer, "{\"id\":%ld,\"value\":1}", ids[i % MOST_OPEN]);
            id = take_call(&peer, i);
            CU_ASSERT_FATAL(id > ids[(i - 1) % MOST_OPEN]);
            ids[i % MOST_OPEN] = id;
        }
        for (long i = 0; i < MOST_OPEN; i++)
            peer_send(&peer, "{\"id\":%ld,\"value\":1}", ids[i]);
        const char *line = peer_line(&peer), *list;
        size_t len = 0;
        CU_ASSERT(line && laz_json_member(line, strlen(line), "value", &list, &len));
        CU_ASSERT_EQUAL(len, 3000 * strlen("[0,1],") + 1);
    }
    peer_close(&peer);
}

static void what_is_open_at_the_end_is_given_up(void)
{
    struct peer peer;
    long ids[3];

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        execute(&peer, "open 3 echo");
        CU_ASSERT(take_calls(&peer, ids, 3));
        CU_ASSERT(member_is(peer_line(&peer), "value", "3"));
        peer_send(&peer, "{\"id\":%ld,\"value\":\"late\"}", ids[0]); /* while the agent is idle */
        execute(&peer, "many 1 echo");
        long id = take_call(&peer, 0);
        CU_ASSERT(id > ids[2]);
        peer_send(&peer, "{\"id\":%ld,\"value\":\"late\"}", ids[1]); /* and in the next execution */
        peer_send(&peer, "{\"id\":%ld,\"error\":\"late\"}", ids[2]);
        peer_send(&peer, "{\"id\":%ld,\"value\":12345}", id);
        CU_ASSERT(member_is(peer_line(&peer), "value", "[[0,5]]"));
    }
    peer_close(&peer);
}

static void a_call_that_waits_has_none_beside_it(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        execute(&peer, "beside echo");
        long id = take_call(&peer, 0);
        peer_send(&peer, "{\"id\":%ld,\"value\":1}", id);
        CU_ASSERT(member_is(peer_line(&peer), "value",
                            "[[-7,\"another call of a tool is open\"],"
                            "[-7,\"another call of a tool is open\"],[0,0,1]]"));
    }
    peer_close(&peer);
}

/* Until the agent has written `text`. */
static bool has_written(const struct peer *peer, const char *text)
{
    struct pollfd wait = {peer->out, POLLIN, 0};
    char read_so_far[64] = "";
    size_t len = 0;

    while (!strstr(read_so_far, text)) {
        ssize_t n = poll(&wait, 1, PEER_WAIT_MS) == 1
                        ? read(peer->out, read_so_far + len, sizeof read_so_far - 1 - len)
                        : 0;
        if (n <= 0)
            return false;
        len += (size_t)n;
    }
    return true;
}

static void waiting_for_an_answer_can_have_an_end(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        execute(&peer, "late 20 echo");
        long id = take_call(&peer, 0);
        CU_ASSERT(has_written(&peer, "waited"));
        char answer[64];
        int len = snprintf(answer, sizeof answer, "{\"id\":%ld,\"value\":1234}\n", id);
        CU_ASSERT(peer_send_bytes(&peer, answer, 5));
        CU_ASSERT(peer_send_bytes(&peer, answer + 5, (size_t)len - 5));
        const char *line = peer_line(&peer), *list;
        size_t list_len = 0;
        CU_ASSERT_FATAL(line && laz_json_member(line, strlen(line), "value", &list, &list_len));
        static const char begin[] = "[[0,-13,\"none\"],[0,-13,\"none\"],";
        CU_ASSERT(strncmp(list, begin, strlen(begin)) == 0);
        static const char end[] = "[0,0,4],[0,-11,\"none\"]]";
        CU_ASSERT(list_len > sizeof end &&
                  strncmp(list + list_len - strlen(end), end, strlen(end)) == 0);
    }
    peer_close(&peer);
}

static void a_value_without_memory_is_an_error_of_its_own_call(void)
{
    struct peer peer;
    long ids[3];

    if (UNDER_SANITIZERS) {
        printf("\n    SKIP memory: sanitizers need memory of their own\n");
        return;
    }
    if (peer_start(&peer, "", "\"limits\":{\"memory\":33554432}", TOOL_ECHO)) {
        execute(&peer, "race 3 echo");
        CU_ASSERT_FATAL(take_calls(&peer, ids, 3));
        char *large = malloc(60000001);
        memset(large, 'x', 60000000);
        large[60000000] = '\0';
        peer_send(&peer, "{\"id\":%ld,\"value\":1}", ids[2]);
        peer_send(&peer, "{\"id\":%ld,\"value\":\"%s\"}", ids[0], large);
        peer_send(&peer, "{\"id\":%ld,\"value\":1}", ids[1]);
        free(large);
        CU_ASSERT(member_is(peer_line(&peer), "value",
                            "[[2,0,1],[0,-2,\"not enough memory for the value of the tool\"],"
                            "[1,0,1]]"));
    }
    peer_close(&peer);
}

/* Makes messages that answer no open call; the agent must ignore them, whatever they contain. */
static void noise(struct laz_buf *text, unsigned *seed, const long *ids, long n)
{
    static const char *const shapes[][2] = {
        {"{\"id\":", "000000,\"value\":1}\n"},
        {"{\"id\":-", ",\"value\":1}\n"},
        {"{\"id\":\"", "\",\"value\":1}\n"},
        {"{\"id\":", ".5,\"value\":1}\n"},
        {"{\"id\":null,\"value\":[", "]}\n"},
        {"{\"value\":{\"id\":7},\"id\":[", "]}\n"},
        {"{\"id\":99999999999999", ",\"x\":1}\n"},
        {" { \"id\" : ", "00000 , \"error\" : \"x\" } \n"},
    };

    *seed = *seed * 1103515245 + 12345;
    const char *const *shape = shapes[(*seed >> 16) % 8];
    laz_buf_printf(text, "%s%ld%s", shape[0], ids[(*seed >> 20) % (unsigned long)n], shape[1]);
}

static void answers_are_found_in_any_noise_and_any_pieces(void)
{
    enum { N = 200 };
    struct laz_buf text = LAZ_BUF_INIT;
    struct peer peer;
    unsigned seed = 4711;
    long ids[N], order[N];

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        execute(&peer, "race 200 echo");
        CU_ASSERT_FATAL(take_calls(&peer, ids, N));
        for (long i = 0; i < N; i++)
            order[i] = i;
        for (long i = N - 1; i > 0; i--) {
            seed = seed * 1103515245 + 12345;
            long j = (seed >> 8) % (i + 1), kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        struct laz_buf expected = LAZ_BUF_INIT;
        for (long i = 0; i < N; i++) {
            noise(&text, &seed, ids, N);
            laz_buf_printf(&text, "{\"value\" : \"%ld\", \"more\":[{}],\"id\": %ld }\n", order[i],
                           ids[order[i]]);
            if (i % 3 == 0) /* a second answer: the call is no longer open */
                laz_buf_printf(&text, "{\"id\":%ld,\"error\":\"again\"}\n", ids[order[i]]);
            laz_buf_printf(&expected, "%s[%ld,0,%d]", i ? "," : "[", order[i],
                           2 + snprintf(NULL, 0, "%ld", order[i]));
        }
        laz_buf_puts(&expected, "]");
        for (size_t at = 0, piece; at < text.len; at += piece) {
            seed = seed * 1103515245 + 12345;
            piece = 1 + (seed >> 16) % 40;
            if (piece > text.len - at)
                piece = text.len - at;
            CU_ASSERT(peer_send_bytes(&peer, text.data + at, piece));
        }
        CU_ASSERT(member_is(peer_line(&peer), "value", laz_buf_text(&expected)));
        laz_buf_fini(&expected);
    }
    laz_buf_fini(&text);
    peer_close(&peer);
}

static const struct unit_test tests[] = {
    UNIT(calls_go_out_together_and_answers_come_in_any_order),
    UNIT(no_more_calls_are_open_than_the_host_takes),
    UNIT(what_is_open_at_the_end_is_given_up),
    UNIT(a_call_that_waits_has_none_beside_it),
    UNIT(waiting_for_an_answer_can_have_an_end),
    UNIT(a_value_without_memory_is_an_error_of_its_own_call),
    UNIT(answers_are_found_in_any_noise_and_any_pieces),
    {0},
};

int main(void)
{
    return unit_run("agent_calls", tests);
}
