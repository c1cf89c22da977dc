/* SPDX-License-Identifier: MIT */
/* test_carrier.c - frames, links and open requests of core/carrier. */
#include "unit.h"

#include "carrier/carrier.h"

#ifdef HAVE_FAULTS
#include "fault.h"
#endif

#include <stdlib.h>
#include <string.h>

#define LINK_ID  "00112233445566778899aabbccddeeff"
#define OTHER_ID "ffffffffffffffffffffffffffffffff"
#define BOOT_ID  "0123456789abcdef0123456789abcdef"

static const struct laz_link_limits limits = {
    .part = 8, .window = 32, .max_line = 40, .most = 200, .keepalive_ms = 5000, .lease_ms = 15000};

/* ---- subjects ---------------------------------------------------------------------------------
 */

static void subjects_are_made_of_ids_and_names(void)
{
    char subject[LAZ_SUBJECT_SIZE], id[LAZ_CARRIER_ID + 1];
    const unsigned char random[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                      0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
    bool is_answer;

    laz_carrier_id(id, random);
    UNIT_TEXT(id, LINK_ID);
    laz_subject_open(subject, "p-1");
    UNIT_TEXT(subject, "lz.1.open.p-1");
    laz_subject_link(subject, id);
    UNIT_TEXT(subject, "lz.1.s." LINK_ID ".in");
    laz_subject_caller(subject, "me");
    UNIT_TEXT(subject, "lz.1.c.me.>");
    laz_subject_heartbeat(subject, "w1");
    UNIT_TEXT(subject, "lz.1.w.w1.hb");
    laz_subject_control(subject, "w1");
    UNIT_TEXT(subject, "lz.1.w.w1.ctl");
    laz_subject_inbox(subject, "me", id);
    const char *open = laz_subject_opening(subject, "me", &is_answer);
    CU_ASSERT(open && strcmp(open, LINK_ID) == 0 && !is_answer);
    CU_ASSERT(!laz_subject_opening(subject, "m", &is_answer));
    CU_ASSERT(!laz_subject_opening(subject, "you", &is_answer));
    laz_subject_answer(subject, "me", id);
    open = laz_subject_opening(subject, "me", &is_answer);
    CU_ASSERT(open && strncmp(open, LINK_ID, LAZ_CARRIER_ID) == 0 && is_answer);
    CU_ASSERT(!laz_subject_opening("lz.1.c.me." LINK_ID ".else", "me", &is_answer));
    CU_ASSERT(!laz_subject_opening("lz.1.c.me.x", "me", &is_answer));
    CU_ASSERT(!laz_subject_opening("lz.2.c.me." LINK_ID, "me", &is_answer));
}

static void ids_and_names_are_strict(void)
{
    CU_ASSERT(laz_carrier_is_id(LINK_ID, 32));
    CU_ASSERT(!laz_carrier_is_id(LINK_ID, 31));
    CU_ASSERT(!laz_carrier_is_id("00112233445566778899AABBCCDDEEFF", 32));
    CU_ASSERT(!laz_carrier_is_id("00112233445566778899aabbccddee.f", 32));
    CU_ASSERT(laz_carrier_is_name("a_B-9", 5));
    CU_ASSERT(!laz_carrier_is_name("", 0));
    CU_ASSERT(!laz_carrier_is_name("a.b", 3));
    CU_ASSERT(!laz_carrier_is_name("a>", 2));
    CU_ASSERT(!laz_carrier_is_name(
        "01234567890123456789012345678901234567890123456789012345678901234", 65));
}

/* ---- frames -----------------------------------------------------------------------------------
 */

#define TEXT(text) text, sizeof(text) - 1

static void frames_are_read_as_they_were_made(void)
{
    static const char *const made[] = {
        "{\"v\":1,\"kind\":\"open\",\"open\":\"" LINK_ID
        "\",\"caller\":\"me\",\"tenant\":\"t\",\"deadline\":5}\nTOKEN",
        "{\"v\":1,\"kind\":\"opened\",\"open\":\"" LINK_ID "\",\"link\":\"" OTHER_ID
        "\",\"worker\":\"w1\",\"boot\":\"" BOOT_ID "\",\"lease\":15000}\n",
        "{\"v\":1,\"kind\":\"refused\",\"open\":\"" LINK_ID
        "\",\"worker\":\"w1\",\"code\":\"full\"}\nno place",
        "{\"v\":1,\"kind\":\"line\",\"link\":\"" LINK_ID
        "\",\"n\":7,\"part\":1,\"of\":2,\"credit\":99}\n{}",
        "{\"v\":1,\"kind\":\"keep\",\"link\":\"" LINK_ID "\",\"n\":0,\"beat\":3,\"credit\":1}\n",
        "{\"v\":1,\"kind\":\"end\",\"link\":\"" LINK_ID "\",\"n\":2,\"reason\":\"closed\"}\n",
    };

    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        struct laz_carrier_frame frame;
        struct laz_buf again = LAZ_BUF_INIT;
        struct laz_error err = {0};
        CU_ASSERT(laz_carrier_parse(made[i], strlen(made[i]), &frame, &err) == 0);
        UNIT_TEXT(err.text, "");
        CU_ASSERT(frame.kind == (enum laz_carrier_kind)i);
        laz_carrier_make(&frame, &again);
        UNIT_TEXT(again.data, made[i]);
        laz_buf_fini(&again);
    }
}

#define LINE(members, data) "{\"v\":1,\"kind\":\"line\"," members "}\n" data
#define OF_LINK             "\"link\":\"" LINK_ID "\","

static void bytes_that_are_no_frame_are_refused(void)
{
    static const char *const wrong[] = {
        "",
        "\n",
        "{}",
        "{}\n",
        "[]\nx",
        "{\"v\":1}\n",
        "{\"v\":2,\"kind\":\"end\",\"link\":\"" LINK_ID "\",\"n\":2,\"reason\":\"closed\"}\n",
        "{\"v\":1,\"kind\":\"else\",\"link\":\"" LINK_ID "\"}\n",
        "{\"v\":1,\"kind\":7}\n",
        "{\"v\":1,\"kind\":\"end\",\"link\":\"" LINK_ID "\",\"n\":2,\"reason\":\"closed\"}\nmore",
        "{\"v\":1,\"kind\":\"end\",\"link\":\"" LINK_ID "\",\"n\":2,\"reason\":\"clo sed\"}\n",
        "{\"v\":1,\"kind\":\"keep\",\"link\":\"" LINK_ID "\",\"n\":0,\"beat\":0,\"credit\":1}\n",
        "{\"v\":1,\"kind\":\"open\",\"open\":\"" LINK_ID "\",\"caller\":\"a.b\",\"deadline\":5}\n",
        LINE(OF_LINK "\"n\":0,\"part\":0,\"of\":1,\"credit\":0", ""), /* no data */
        LINE(OF_LINK "\"n\":0,\"part\":1,\"of\":1,\"credit\":0", "x"),
        LINE(OF_LINK "\"n\":0,\"part\":0,\"of\":0,\"credit\":0", "x"),
        LINE(OF_LINK "\"n\":-1,\"part\":0,\"of\":1,\"credit\":0", "x"),
        LINE(OF_LINK "\"n\":1.5,\"part\":0,\"of\":1,\"credit\":0", "x"),
        LINE(OF_LINK "\"n\":9007199254740993,\"part\":0,\"of\":1,\"credit\":0", "x"),
        LINE(OF_LINK "\"n\":0,\"n\":1,\"part\":0,\"of\":1,\"credit\":0", "x"),
        LINE(OF_LINK "\"part\":0,\"of\":1,\"credit\":0", "x"),
        LINE("\"link\":\"" LINK_ID "0\",\"n\":0,\"part\":0,\"of\":1,\"credit\":0", "x"),
        LINE("\"link\":\"0011223344556677889\\u0039aabbccddee\",\"n\":0,\"part\":0,\"of\":1,"
             "\"credit\":0",
             "x"),
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct laz_carrier_frame frame;
        struct laz_error err = {0};
        CU_ASSERT(laz_carrier_parse(wrong[i], strlen(wrong[i]), &frame, &err) == LAZ_EPROTO);
        CU_ASSERT(strstr(err.text, "not a frame: ") == err.text);
    }
}

static void a_header_and_a_part_have_their_bounds(void)
{
    static const char head[] = LINE(OF_LINK "\"n\":0,\"part\":0,\"of\":1,\"credit\":0", "");
    const size_t most = sizeof head - 1 + LAZ_CARRIER_PART;
    struct laz_carrier_frame frame;
    char *bytes = malloc(most + 1);

    CU_ASSERT_FATAL(bytes != NULL);
    memset(bytes, 'x', most + 1);
    memcpy(bytes, head, sizeof head - 1);
    CU_ASSERT(laz_carrier_parse(bytes, most, &frame, NULL) == 0);
    CU_ASSERT(frame.len == LAZ_CARRIER_PART);
    CU_ASSERT(laz_carrier_parse(bytes, most + 1, &frame, NULL) == LAZ_EPROTO);
    /* A newline that comes too late. */
    memset(bytes, ' ', 2048);
    memcpy(bytes + 2048, head, sizeof head);
    CU_ASSERT(laz_carrier_parse(bytes, 2048 + sizeof head, &frame, NULL) == LAZ_EPROTO);
    free(bytes);
}

/* ---- links: a state, an event, what comes of it -----------------------------------------------
 */

/* All actions as a text: "line ABC; send line 0 1/2 credit 32; send end closed; end closed". */
static const char *link_actions(struct laz_link *link, uint64_t now_ms)
{
    static char text[1000];
    static const char *const kinds[] = {"open", "opened", "refused", "line", "keep", "end"};
    struct laz_link_action action;
    size_t at = 0;

    text[0] = '\0';
    while (at + 100 < sizeof text && laz_link_next(link, now_ms, &action)) {
        const struct laz_carrier_frame *frame = &action.frame;
        if (at)
            at += (size_t)snprintf(text + at, sizeof text - at, "; ");
        if (action.type == LAZ_LINK_LINE)
            at += (size_t)snprintf(text + at, sizeof text - at, "line %.*s", (int)action.len,
                                   action.line);
        else if (action.type == LAZ_LINK_END_IT)
            at += (size_t)snprintf(text + at, sizeof text - at, "end %s",
                                   laz_link_reason_word(action.reason));
        else if (frame->kind == LAZ_CARRIER_LINE)
            at += (size_t)snprintf(text + at, sizeof text - at, "send %lld %lld/%lld %.*s",
                                   (long long)frame->number, (long long)frame->part,
                                   (long long)frame->parts, (int)frame->len, frame->data);
        else if (frame->kind == LAZ_CARRIER_END)
            at += (size_t)snprintf(text + at, sizeof text - at, "send end %lld %.*s",
                                   (long long)frame->number, (int)frame->reason_len, frame->reason);
        else
            at +=
                (size_t)snprintf(text + at, sizeof text - at, "send %s %lld beat %lld credit %lld",
                                 kinds[frame->kind], (long long)frame->number,
                                 (long long)frame->beat, (long long)frame->credit);
    }
    return text;
}

static struct laz_carrier_frame line_frame(int64_t number, int64_t part, int64_t parts,
                                           const char *data)
{
    return (struct laz_carrier_frame){.kind = LAZ_CARRIER_LINE,
                                      .link = LINK_ID,
                                      .link_len = LAZ_CARRIER_ID,
                                      .number = number,
                                      .part = part,
                                      .parts = parts,
                                      .data = data,
                                      .len = strlen(data)};
}

static struct laz_carrier_frame keep_frame(int64_t number, int64_t beat, int64_t credit)
{
    return (struct laz_carrier_frame){.kind = LAZ_CARRIER_KEEP,
                                      .link = LINK_ID,
                                      .link_len = LAZ_CARRIER_ID,
                                      .number = number,
                                      .beat = beat,
                                      .credit = credit};
}

static struct laz_carrier_frame end_frame(int64_t number, const char *reason)
{
    return (struct laz_carrier_frame){.kind = LAZ_CARRIER_END,
                                      .link = LINK_ID,
                                      .link_len = LAZ_CARRIER_ID,
                                      .number = number,
                                      .reason = reason,
                                      .reason_len = strlen(reason)};
}

static const char *link_frame(struct laz_link *link, uint64_t now_ms,
                              struct laz_carrier_frame frame)
{
    const struct laz_link_event event = {.type = LAZ_LINK_ON_FRAME, .frame = &frame};

    laz_link_step(link, now_ms, &event);
    return link_actions(link, now_ms);
}

static const char *link_event(struct laz_link *link, uint64_t now_ms, struct laz_link_event event)
{
    laz_link_step(link, now_ms, &event);
    return link_actions(link, now_ms);
}

/* A link with a line that waits for credit (it has sent 32 bytes of 40) in a state. */
static void link_begin(struct laz_link *link, bool is_worker, enum laz_link_state state)
{
    laz_link_init(link, &limits, is_worker, LINK_ID, BOOT_ID, 1000);
    CU_ASSERT(laz_link_write(link, "aaaaaaaabbbbbbbbccccccccddddddddeeeeeeee", 40) == 0);
    UNIT_TEXT(link_actions(link, 1000),
              "send 0 0/5 aaaaaaaa; send 1 1/5 bbbbbbbb; send 2 2/5 cccccccc; send 3 3/5 dddddddd");
    if (state == LAZ_LINK_FINISHING)
        UNIT_TEXT(link_event(link, 1000,
                             (struct laz_link_event){.type = LAZ_LINK_ON_FINISH,
                                                     .reason = LAZ_LINK_CLOSED}),
                  "");
    if (state == LAZ_LINK_ENDED)
        UNIT_TEXT(
            link_event(link, 1000,
                       (struct laz_link_event){.type = LAZ_LINK_ON_END, .reason = LAZ_LINK_CLOSED}),
            "send end 4 closed; end closed");
    CU_ASSERT(link->state == state);
}

#define OF_THE_LINK(its_kind) .kind = (its_kind), .link = LINK_ID, .link_len = LAZ_CARRIER_ID
#define LINE_FRAME(n, its_part, its_parts, text)                                                   \
    {                                                                                              \
        OF_THE_LINK(LAZ_CARRIER_LINE), .number = (n), .part = (its_part), .parts = (its_parts),    \
                                       .data = (text), .len = sizeof(text) - 1                     \
    }
#define KEEP_FRAME(n, its_beat, its_credit)                                                        \
    {                                                                                              \
        OF_THE_LINK(LAZ_CARRIER_KEEP), .number = (n), .beat = (its_beat), .credit = (its_credit)   \
    }
#define END_FRAME(n, word)                                                                         \
    {                                                                                              \
        OF_THE_LINK(LAZ_CARRIER_END), .number = (n), .reason = (word),                             \
                                      .reason_len = sizeof(word) - 1                               \
    }

/* Each event of the enum, and each kind of frame: what comes of it on the caller's side while the
 * link is open and while it finishes, and on the worker's side. Where all is over nothing comes of
 * anything. */
static const struct {
    struct laz_link_event event;
    const struct laz_carrier_frame frame;
    uint64_t now_ms;
    const char *open, *finishing, *worker;
} link_rows[] = {
    {{.type = LAZ_LINK_ON_FRAME}, LINE_FRAME(0, 0, 1, "A"), 2000, "line A", "line A", "line A"},
    {{.type = LAZ_LINK_ON_FRAME},
     LINE_FRAME(1, 0, 1, "A"),
     2000,
     "send end 4 frames_lost; end frames_lost",
     NULL,
     NULL},
    {{.type = LAZ_LINK_ON_FRAME},
     LINE_FRAME(0, 1, 2, "A"),
     2000,
     "send end 4 protocol_error; end protocol_error",
     NULL,
     NULL},
    {{.type = LAZ_LINK_ON_FRAME},
     KEEP_FRAME(0, 1, 40),
     2000,
     "send 4 4/5 eeeeeeee",
     "send 4 4/5 eeeeeeee; send end 5 closed; end closed",
     "send 4 4/5 eeeeeeee"},
    {{.type = LAZ_LINK_ON_FRAME},
     KEEP_FRAME(0, 1, 65),
     2000, /* more than it can have read */
     "send end 4 protocol_error; end protocol_error",
     NULL,
     NULL},
    {{.type = LAZ_LINK_ON_FRAME},
     KEEP_FRAME(1, 1, 32),
     2000,
     "send end 4 frames_lost; end frames_lost",
     NULL,
     NULL},
    {{.type = LAZ_LINK_ON_FRAME},
     END_FRAME(0, "closed"),
     2000,
     "end closed",
     "end closed",
     "end closed"},
    {{.type = LAZ_LINK_ON_FRAME},
     END_FRAME(0, "drained"),
     2000,
     "end drained",
     "end drained",
     "end protocol_error"},
    {{.type = LAZ_LINK_ON_FRAME},
     END_FRAME(0, "superfluous"),
     2000,
     "end protocol_error",
     "end protocol_error",
     "end superfluous"},
    {{.type = LAZ_LINK_ON_FRAME}, END_FRAME(0, "no_such"), 2000, "end protocol_error", NULL, NULL},
    {{.type = LAZ_LINK_ON_FRAME}, END_FRAME(1, "closed"), 2000, "end frames_lost", NULL, NULL},
    {{.type = LAZ_LINK_ON_NOISE}, {0}, 2000, "", "", ""},
    {{.type = LAZ_LINK_ON_READ, .bytes = 7}, {0}, 2000, "", "", ""},
    {{.type = LAZ_LINK_ON_TICK}, {0}, 5999, "", "", ""},
    {{.type = LAZ_LINK_ON_TICK}, {0}, 6000, "send keep 4 beat 1 credit 32", NULL, NULL},
    {{.type = LAZ_LINK_ON_TICK},
     {0},
     16000,
     "send end 4 worker_lost; end worker_lost",
     "send end 4 worker_lost; end worker_lost",
     "send end 4 caller_lost; end caller_lost"},
    {{.type = LAZ_LINK_ON_CONNECTED}, {0}, 2000, "send keep 4 beat 1 credit 32", NULL, NULL},
    {{.type = LAZ_LINK_ON_NOBODY},
     {0},
     2000,
     "send end 4 worker_lost; end worker_lost",
     "send end 4 worker_lost; end worker_lost",
     "send end 4 caller_lost; end caller_lost"},
    {{.type = LAZ_LINK_ON_REFUSED}, {0}, 2000, "end refused", "end refused", "end refused"},
    {{.type = LAZ_LINK_ON_BOOT, .boot = BOOT_ID}, {0}, 2000, "", "", ""},
    {{.type = LAZ_LINK_ON_BOOT, .boot = OTHER_ID},
     {0},
     2000,
     "send end 4 worker_lost; end worker_lost",
     "send end 4 worker_lost; end worker_lost",
     ""},
    {{.type = LAZ_LINK_ON_FINISH, .reason = LAZ_LINK_CLOSED}, {0}, 2000, "", "", ""},
    {{.type = LAZ_LINK_ON_END, .reason = LAZ_LINK_CLOSED},
     {0},
     2000,
     "send end 4 closed; end closed",
     NULL,
     NULL},
    /* What a side cannot say is told as an end. */
    {{.type = LAZ_LINK_ON_END, .reason = LAZ_LINK_DRAINED},
     {0},
     2000,
     "send end 4 closed; end drained",
     "send end 4 closed; end drained",
     "send end 4 drained; end drained"},
};

static void check_row(size_t i, bool is_worker, enum laz_link_state state, const char *wanted)
{
    struct laz_link_event event = link_rows[i].event;
    struct laz_link link;

    event.frame = event.type == LAZ_LINK_ON_FRAME ? &link_rows[i].frame : NULL;
    link_begin(&link, is_worker, state);
    laz_link_step(&link, link_rows[i].now_ms, &event);
    UNIT_TEXT(link_actions(&link, link_rows[i].now_ms), wanted);
    const bool has_ended = link.state == LAZ_LINK_ENDED;
    CU_ASSERT(has_ended == (state == LAZ_LINK_ENDED || strncmp(wanted, "end ", 4) == 0 ||
                            strstr(wanted, "; end ")));
    CU_ASSERT(!has_ended || laz_link_due(&link) == UINT64_MAX);
    CU_ASSERT(!has_ended || laz_link_write(&link, "x", 1) == LAZ_ECLOSED);
    laz_link_fini(&link);
}

static void every_event_in_every_state(void)
{
    bool seen[LAZ_LINK_EVENTS] = {false};

    for (size_t i = 0; i < sizeof link_rows / sizeof *link_rows; i++) {
        const char *open = link_rows[i].open, *finishing = link_rows[i].finishing;
        const char *worker = link_rows[i].worker;
        seen[link_rows[i].event.type] = true;
        check_row(i, false, LAZ_LINK_OPEN, open);
        check_row(i, false, LAZ_LINK_FINISHING, finishing ? finishing : open);
        check_row(i, true, LAZ_LINK_OPEN, worker ? worker : open);
        check_row(i, false, LAZ_LINK_ENDED, "");
        check_row(i, true, LAZ_LINK_ENDED, "");
    }
    for (int type = 0; type < LAZ_LINK_EVENTS; type++)
        CU_ASSERT(seen[type]);
}

static void what_comes_twice_or_late_is_dropped_and_counted(void)
{
    struct laz_link link;
    struct laz_carrier_frame foreign = line_frame(0, 0, 1, "A");

    foreign.link = OTHER_ID;
    laz_link_init(&link, &limits, true, LINK_ID, BOOT_ID, 0);
    UNIT_TEXT(link_frame(&link, 0, foreign), "");
    UNIT_TEXT(link_frame(&link, 0, line_frame(0, 0, 1, "A")), "line A");
    UNIT_TEXT(link_frame(&link, 0, line_frame(0, 0, 1, "A")), "");
    UNIT_TEXT(link_frame(&link, 0, line_frame(0, 0, 1, "B")), "");
    UNIT_TEXT(link_frame(&link, 0, keep_frame(1, 1, 32)), "");
    UNIT_TEXT(link_frame(&link, 0, keep_frame(1, 1, 32)), "");
    CU_ASSERT(link.n_repeated == 3 && link.n_foreign == 1 && link.n_late == 0);
    UNIT_TEXT(link_frame(&link, 0, end_frame(1, "closed")), "end closed");
    UNIT_TEXT(link_frame(&link, 0, end_frame(1, "closed")), "");
    UNIT_TEXT(link_frame(&link, 0, line_frame(1, 0, 1, "B")), "");
    CU_ASSERT(link.n_late == 2);
    laz_link_fini(&link);
}

static void an_old_beat_renews_no_lease(void)
{
    struct laz_link link;

    laz_link_init(&link, &limits, true, LINK_ID, BOOT_ID, 0);
    link_frame(&link, 4000, keep_frame(0, 1, 32));
    link_frame(&link, 5000, line_frame(0, 0, 1, "A"));
    CU_ASSERT(link.heard_ms == 5000);
    link_frame(&link, 9000, keep_frame(0, 1, 32));     /* again */
    link_frame(&link, 9000, line_frame(0, 0, 1, "A")); /* again */
    CU_ASSERT(link.heard_ms == 5000);
    link_frame(&link, 9000, keep_frame(1, 2, 32));
    CU_ASSERT(link.heard_ms == 9000);
    laz_link_fini(&link);
}

/* The peer may be back a little later than this side. */
static void after_a_reconnection_nobody_is_no_end(void)
{
    const struct laz_link_event connected = {.type = LAZ_LINK_ON_CONNECTED};
    const struct laz_link_event nobody = {.type = LAZ_LINK_ON_NOBODY};
    struct laz_link link;

    laz_link_init(&link, &limits, false, LINK_ID, BOOT_ID, 1000);
    UNIT_TEXT(link_event(&link, 2000, connected), "send keep 0 beat 1 credit 32");
    UNIT_TEXT(link_event(&link, 6999, nobody), "");
    UNIT_TEXT(link_event(&link, 7000, nobody), "send end 0 worker_lost; end worker_lost");
    laz_link_fini(&link);
}

static void a_keepalive_is_sent_only_where_nothing_else_was(void)
{
    struct laz_link link;
    const struct laz_link_event tick = {.type = LAZ_LINK_ON_TICK};

    laz_link_init(&link, &limits, false, LINK_ID, BOOT_ID, 0);
    CU_ASSERT(laz_link_due(&link) == 5000);
    CU_ASSERT(laz_link_write(&link, "x", 1) == 0);
    UNIT_TEXT(link_actions(&link, 3000), "send 0 0/1 x");
    CU_ASSERT(laz_link_due(&link) == 8000);
    UNIT_TEXT(link_event(&link, 5000, tick), "");
    UNIT_TEXT(link_event(&link, 8000, tick), "send keep 1 beat 1 credit 32");
    CU_ASSERT(laz_link_due(&link) == 13000);
    UNIT_TEXT(link_event(&link, 13000, tick), "send keep 1 beat 2 credit 32");
    CU_ASSERT(laz_link_due(&link) == 15000); /* the lease */
    laz_link_fini(&link);
}

/* ---- links: lines of several parts, credit -----------------------------------------------------
 */

static void a_line_of_several_parts_is_one_line(void)
{
    struct laz_link link;

    laz_link_init(&link, &limits, false, LINK_ID, BOOT_ID, 0);
    UNIT_TEXT(link_frame(&link, 0, line_frame(0, 0, 3, "aaaaaaaa")),
              "send keep 0 beat 1 credit 40");
    UNIT_TEXT(link_frame(&link, 0, line_frame(1, 1, 3, "bbbbbbbb")),
              "send keep 0 beat 2 credit 48");
    UNIT_TEXT(link_frame(&link, 0, line_frame(2, 2, 3, "c")), "line aaaaaaaabbbbbbbbc");
    CU_ASSERT(laz_link_held(&link) == 17);
    UNIT_TEXT(link_event(&link, 0, (struct laz_link_event){.type = LAZ_LINK_ON_READ, .bytes = 17}),
              "");
    CU_ASSERT(laz_link_held(&link) == 0);
    UNIT_TEXT(link_frame(&link, 0, line_frame(3, 0, 1, "d")), "line d");
    laz_link_fini(&link);
}

static void parts_that_do_not_fit_end_the_link(void)
{
    const struct {
        struct laz_carrier_frame first, second;
        const char *end;
    } rows[] = {
        {line_frame(0, 0, 2, "short"), {0}, "protocol_error"},
        {line_frame(0, 0, 2, "more than 8"), {0}, "protocol_error"},
        {line_frame(0, 0, 1, "more than 8"), {0}, "protocol_error"},
        {line_frame(0, 0, 1, "a\nb"), {0}, "protocol_error"}, /* two lines are not one */
        {line_frame(0, 0, 2, "aaaaaaaa"), line_frame(1, 1, 2, "b\n"), "protocol_error"},
        {line_frame(0, 0, 6, "aaaaaaaa"), {0}, "too_large"},
        {line_frame(0, 0, INT64_C(1) << 53, "aaaaaaaa"), {0}, "too_large"},
        {line_frame(0, 0, 3, "aaaaaaaa"), line_frame(1, 2, 3, "a"), "protocol_error"},
        {line_frame(0, 0, 3, "aaaaaaaa"), line_frame(1, 1, 2, "a"), "protocol_error"},
        {line_frame(0, 0, 3, "aaaaaaaa"), line_frame(1, 0, 1, "a"), "protocol_error"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char wanted[100];
        struct laz_link link;
        laz_link_init(&link, &limits, false, LINK_ID, BOOT_ID, 0);
        const char *got = link_frame(&link, 0, rows[i].first);
        if (rows[i].second.data)
            got = link_frame(&link, 0, rows[i].second);
        snprintf(wanted, sizeof wanted, "send end 0 %s; end %s", rows[i].end, rows[i].end);
        UNIT_TEXT(got, wanted);
        laz_link_fini(&link);
    }
}

static void a_reader_that_does_not_read_is_sent_no_more(void)
{
    struct laz_link from, to;
    struct laz_link_action action;
    size_t held = 0, lines = 0;

    laz_link_init(&from, &limits, true, LINK_ID, BOOT_ID, 0);
    laz_link_init(&to, &limits, false, LINK_ID, BOOT_ID, 0);
    for (int i = 0; i < 12; i++)
        CU_ASSERT(laz_link_write(&from, "0123456789abcdef", 16) == 0);
    for (int round = 0; round < 100; round++) {
        while (laz_link_next(&from, 0, &action)) {
            const struct laz_link_event event = {.type = LAZ_LINK_ON_FRAME, .frame = &action.frame};
            laz_link_step(&to, 0, &event);
            held = laz_link_held(&to) > held ? laz_link_held(&to) : held;
            struct laz_link_action answer;
            while (laz_link_next(&to, 0, &answer)) {
                const struct laz_link_event back = {.type = LAZ_LINK_ON_FRAME,
                                                    .frame = &answer.frame};
                lines += answer.type == LAZ_LINK_LINE;
                if (answer.type == LAZ_LINK_SEND)
                    laz_link_step(&from, 0, &back);
            }
        }
        if (round == 0) /* nothing was read: the window, and what came before the first line */
            CU_ASSERT(lines <= 3 && laz_link_waiting(&from) >= 12 * 16 - 48);
        const struct laz_link_event read = {.type = LAZ_LINK_ON_READ, .bytes = 16};
        laz_link_step(&to, 0, &read);
        while (laz_link_next(&to, 0, &action)) {
            const struct laz_link_event back = {.type = LAZ_LINK_ON_FRAME, .frame = &action.frame};
            laz_link_step(&from, 0, &back);
        }
    }
    CU_ASSERT(lines == 12 && laz_link_waiting(&from) == 0);
    CU_ASSERT(held <= limits.max_line + limits.window);
    CU_ASSERT(from.state == LAZ_LINK_OPEN && to.state == LAZ_LINK_OPEN);
    laz_link_fini(&from);
    laz_link_fini(&to);
}

static void who_sends_without_credit_breaks_the_protocol(void)
{
    struct laz_link link;

    laz_link_init(&link, &limits, false, LINK_ID, BOOT_ID, 0);
    for (int i = 0; i < 4; i++)
        CU_ASSERT(strncmp(link_frame(&link, 0, line_frame(i, 0, 1, "aaaaaaaa")), "line aaaaaaaa",
                          13) == 0);
    UNIT_TEXT(link_frame(&link, 0, line_frame(4, 0, 1, "a")),
              "send end 0 protocol_error; end protocol_error");
    laz_link_fini(&link);
}

static void what_waits_has_a_bound(void)
{
    struct laz_link link;
    const char line[41] = "0123456789012345678901234567890123456789";

    laz_link_init(&link, &limits, false, LINK_ID, BOOT_ID, 0);
    CU_ASSERT(laz_link_write(&link, line, 41) == LAZ_ETOOBIG);
    CU_ASSERT(laz_link_write(&link, line, 0) == LAZ_ETOOBIG);
    for (int i = 0; i < 5; i++)
        CU_ASSERT(laz_link_write(&link, line, 40) == 0);
    CU_ASSERT(link.state == LAZ_LINK_OPEN);
    CU_ASSERT(laz_link_write(&link, line, 40) == 0);
    UNIT_TEXT(link_actions(&link, 0), "send end 0 slow; end slow");
    laz_link_fini(&link);
}

static void finishing_sends_what_waits_first(void)
{
    struct laz_link link;

    link_begin(&link, true, LAZ_LINK_FINISHING);
    CU_ASSERT(laz_link_write(&link, "x", 1) == LAZ_ECLOSED);
    UNIT_TEXT(
        link_event(&link, 2000,
                   (struct laz_link_event){.type = LAZ_LINK_ON_END, .reason = LAZ_LINK_DRAINED}),
        "send end 4 drained; end drained");
    laz_link_fini(&link);
    laz_link_init(&link, &limits, true, LINK_ID, BOOT_ID, 0);
    CU_ASSERT(laz_link_write(&link, "x", 1) == 0);
    UNIT_TEXT(
        link_event(&link, 0,
                   (struct laz_link_event){.type = LAZ_LINK_ON_FINISH, .reason = LAZ_LINK_DRAINED}),
        "send 0 0/1 x; send end 1 drained; end drained");
    laz_link_fini(&link);
}

/* One that says that it is there, and gives no credit, holds what waits for a while only. */
static void finishing_has_a_bound(void)
{
    struct laz_link link;
    uint64_t now_ms = 1000;
    int64_t beat = 0;

    link_begin(&link, true, LAZ_LINK_FINISHING);
    while (link.state == LAZ_LINK_FINISHING && now_ms < 200000) {
        now_ms += 5000;
        CU_ASSERT(strstr(link_frame(&link, now_ms, keep_frame(0, ++beat, 0)), "line") == NULL);
        link_event(&link, now_ms, (struct laz_link_event){.type = LAZ_LINK_ON_TICK});
    }
    CU_ASSERT(link.state == LAZ_LINK_ENDED && link.reason == LAZ_LINK_SLOW);
    CU_ASSERT(now_ms == 1000 + 4 * (uint64_t)limits.lease_ms);
    laz_link_fini(&link);
}

static void each_reason_has_a_word_that_is_read_again(void)
{
    for (int i = LAZ_LINK_CLOSED; i < LAZ_LINK_REASONS; i++) {
        const enum laz_link_reason reason = (enum laz_link_reason)i;
        const char *word = laz_link_reason_word(reason);
        const enum laz_link_reason by_caller = laz_link_reason_said(word, strlen(word), false);
        const enum laz_link_reason by_worker = laz_link_reason_said(word, strlen(word), true);
        CU_ASSERT(by_caller == reason || by_caller == LAZ_LINK_NONE);
        CU_ASSERT(by_worker == reason || by_worker == LAZ_LINK_NONE);
        CU_ASSERT(by_caller == reason || by_worker == reason);
        CU_ASSERT(*laz_link_reason_text(reason) != '\0');
    }
    CU_ASSERT(laz_link_reason_said("open", 4, true) == LAZ_LINK_NONE);
    CU_ASSERT(laz_link_reason_said("worker_lost", 11, true) == LAZ_LINK_NONE);
    CU_ASSERT(laz_link_reason_said("caller_lost", 11, false) == LAZ_LINK_NONE);
}

/* ---- requests ---------------------------------------------------------------------------------
 */

static void a_request_ends_once(void)
{
    struct laz_requests requests = {0};
    struct laz_open_request request = {.id = 7, .is_execute = true};
    struct laz_error err = {0};
    size_t n = 0;

    CU_ASSERT(laz_requests_add(&requests, &request, &err) == 0);
    CU_ASSERT(laz_requests_add(&requests, &request, &err) == LAZ_EBUSY);
    CU_ASSERT(laz_requests_take(&requests, 7, &request));
    CU_ASSERT(!laz_requests_take(&requests, 7, &request));
    CU_ASSERT(!laz_requests_take(&requests, 8, &request));
    CU_ASSERT(requests.n_late == 2);
    for (request.id = 1; request.id <= 5; request.id++)
        CU_ASSERT(laz_requests_add(&requests, &request, &err) == 0);
    CU_ASSERT(laz_requests_take(&requests, 3, &request) && request.id == 3);
    while (laz_requests_end(&requests, &request)) {
        CU_ASSERT(request.id != 3 && request.id >= 1 && request.id <= 5);
        n++;
    }
    CU_ASSERT(n == 4);
    CU_ASSERT(!laz_requests_take(&requests, 1, &request)); /* its answer comes too late */
    CU_ASSERT(laz_requests_add(&requests, &request, &err) == LAZ_ECLOSED);
    laz_requests_fini(&requests);
}

static void open_requests_have_a_bound(void)
{
    struct laz_requests requests = {0};
    struct laz_open_request request = {0};
    struct laz_error err = {0};

    for (request.id = 1; request.id <= LAZ_REQUESTS_MOST; request.id++)
        CU_ASSERT_FATAL(laz_requests_add(&requests, &request, &err) == 0);
    CU_ASSERT(laz_requests_add(&requests, &request, &err) == LAZ_EREFUSED);
    laz_requests_fini(&requests);
}

/* ---- without memory ---------------------------------------------------------------------------
 */

#ifdef HAVE_FAULTS
static void without_memory_nothing_changes_or_the_link_ends(void)
{
    struct laz_open_request request = {.id = 1};
    struct laz_requests requests = {0};
    struct laz_buf bytes = LAZ_BUF_INIT;
    struct laz_carrier_frame frame = END_FRAME(0, "closed");
    struct laz_error err = {0};
    struct laz_link link;

    laz_link_init(&link, &limits, false, LINK_ID, BOOT_ID, 0);
    fault_begin(1, true);
    CU_ASSERT(laz_link_write(&link, "x", 1) == LAZ_ENOMEM);
    CU_ASSERT(laz_requests_add(&requests, &request, &err) == LAZ_ENOMEM);
    laz_carrier_make(&frame, &bytes);
    fault_end();
    CU_ASSERT(bytes.failed && requests.n == 0 && link.state == LAZ_LINK_OPEN);
    UNIT_TEXT(link_actions(&link, 0), "");
    frame = line_frame(0, 0, 2, "aaaaaaaa");
    const struct laz_link_event event = {.type = LAZ_LINK_ON_FRAME, .frame = &frame};
    fault_begin(1, true);
    laz_link_step(&link, 0, &event);
    fault_end();
    UNIT_TEXT(link_actions(&link, 0), "send end 0 no_memory; end no_memory");
    laz_link_fini(&link);
    laz_requests_fini(&requests);
    laz_buf_fini(&bytes);
}
#endif

static const struct unit_test tests[] = {
#ifdef HAVE_FAULTS
    UNIT(without_memory_nothing_changes_or_the_link_ends),
#endif
    UNIT(subjects_are_made_of_ids_and_names),
    UNIT(ids_and_names_are_strict),
    UNIT(frames_are_read_as_they_were_made),
    UNIT(bytes_that_are_no_frame_are_refused),
    UNIT(a_header_and_a_part_have_their_bounds),
    UNIT(every_event_in_every_state),
    UNIT(what_comes_twice_or_late_is_dropped_and_counted),
    UNIT(an_old_beat_renews_no_lease),
    UNIT(after_a_reconnection_nobody_is_no_end),
    UNIT(a_keepalive_is_sent_only_where_nothing_else_was),
    UNIT(a_line_of_several_parts_is_one_line),
    UNIT(parts_that_do_not_fit_end_the_link),
    UNIT(a_reader_that_does_not_read_is_sent_no_more),
    UNIT(who_sends_without_credit_breaks_the_protocol),
    UNIT(what_waits_has_a_bound),
    UNIT(finishing_sends_what_waits_first),
    UNIT(finishing_has_a_bound),
    UNIT(each_reason_has_a_word_that_is_read_again),
    UNIT(a_request_ends_once),
    UNIT(open_requests_have_a_bound),
    {0},
};

int main(void)
{
    return unit_run("carrier", tests);
}
