/* SPDX-License-Identifier: MIT */
/* test_carrier_places.c - the places of a worker, and the openings of a caller. */
#include "unit.h"

#include "carrier/places.h"

#ifdef HAVE_FAULTS
#include "fault.h"
#endif

#include <stdlib.h>
#include <string.h>

#define ID(last) "00112233445566778899aabbccddee" last

static const struct laz_siphash_key key = {1, 2};

/* ---- places -----------------------------------------------------------------------------------
 */

static struct laz_carrier_frame open_frame(const char *open)
{
    return (struct laz_carrier_frame){.kind = LAZ_CARRIER_OPEN,
                                      .open = open,
                                      .open_len = LAZ_CARRIER_ID,
                                      .caller = "me",
                                      .caller_len = 2};
}

static struct laz_places_given ask(struct laz_places *places, uint64_t now_ms, const char *pool,
                                   const char *open, const char *link)
{
    const struct laz_carrier_frame frame = open_frame(open);
    struct laz_places_given given;

    CU_ASSERT(laz_places_open(places, now_ms, pool, &frame, link, &given) == 0);
    return given;
}

/* What there is to do, as a text. */
static const char *actions(struct laz_places *places)
{
    static const char *const words[] = {"+", "-", "exit"};
    static char text[200];
    struct laz_places_action action;

    text[0] = '\0';
    while (laz_places_next(places, &action)) {
        strcat(text, words[action.type]);
        strcat(text, action.pool ? action.pool : "");
        strcat(text, " ");
    }
    return text;
}

static void a_worker_listens_while_it_has_a_place(void)
{
    struct laz_places *places = laz_places_new(&key);

    CU_ASSERT(laz_places_pool(places, "a.b", 1) == LAZ_EINVAL);
    CU_ASSERT(laz_places_pool(places, "a", 2) == 0);
    UNIT_TEXT(actions(places), "+a ");
    UNIT_TEXT(actions(places), "");
    const struct laz_places_given one = ask(places, 0, "a", ID("01"), ID("a1"));
    CU_ASSERT(one.answer == LAZ_PLACES_NEW);
    UNIT_TEXT(one.link, ID("a1"));
    UNIT_TEXT(actions(places), "");
    const struct laz_places_given two = ask(places, 0, "a", ID("02"), ID("a2"));
    CU_ASSERT(two.answer == LAZ_PLACES_NEW);
    UNIT_TEXT(actions(places), "-a ");
    CU_ASSERT(laz_places_free_of(places, "a") == 0 && laz_places_used(places) == 2);
    /* One that was on its way. */
    const struct laz_places_given three = ask(places, 0, "a", ID("03"), ID("a3"));
    CU_ASSERT(three.answer == LAZ_PLACES_REFUSED && three.code == LAZ_PLACE_FULL);
    laz_places_ended(places, 0, one.grant);
    UNIT_TEXT(actions(places), "+a ");
    /* Fewer places than are used: none is free, and the number is not below 0. */
    CU_ASSERT(laz_places_pool(places, "a", 0) == 0);
    UNIT_TEXT(actions(places), "-a ");
    CU_ASSERT(laz_places_free_of(places, "a") == 0);
    CU_ASSERT(laz_places_free_of(places, "none") == 0);
    CU_ASSERT(ask(places, 0, "none", ID("04"), ID("a4")).code == LAZ_PLACE_UNKNOWN);
    laz_places_free(places);
    laz_places_free(NULL);
}

static void an_opening_that_comes_twice_takes_one_place(void)
{
    struct laz_places *places = laz_places_new(&key);

    laz_places_pool(places, "a", 2);
    const struct laz_places_given one = ask(places, 0, "a", ID("01"), ID("a1"));
    const struct laz_places_given again = ask(places, 5, "a", ID("01"), ID("a2"));
    CU_ASSERT(again.answer == LAZ_PLACES_AGAIN && !again.grant);
    UNIT_TEXT(again.link, ID("a1"));
    CU_ASSERT(laz_places_used(places) == 1);
    laz_places_ended(places, 10, one.grant);
    const struct laz_places_given late = ask(places, 20, "a", ID("01"), ID("a3"));
    CU_ASSERT(late.answer == LAZ_PLACES_REFUSED && late.code == LAZ_PLACE_ENDED);
    CU_ASSERT(laz_places_used(places) == 0 && laz_places_remembered(places) == 1);
    /* It is forgotten at last. */
    CU_ASSERT(ask(places, 10 + LAZ_PLACES_REMEMBER_MS, "a", ID("01"), ID("a4")).answer ==
              LAZ_PLACES_NEW);
    CU_ASSERT(laz_places_remembered(places) == 0);
    laz_places_free(places);
}

static void what_is_remembered_has_a_bound(void)
{
    struct laz_places *places = laz_places_new(&key);
    char open[LAZ_CARRIER_ID + 1];

    laz_places_pool(places, "a", 1);
    for (unsigned i = 0; i < LAZ_PLACES_REMEMBERED + 100; i++) {
        const unsigned char bytes[16] = {(unsigned char)i, (unsigned char)(i >> 8),
                                         (unsigned char)(i >> 16)};
        laz_carrier_id(open, bytes);
        const struct laz_places_given given = ask(places, 1, "a", open, ID("a1"));
        CU_ASSERT_FATAL(given.answer == LAZ_PLACES_NEW);
        laz_places_ended(places, 1, given.grant);
    }
    CU_ASSERT(laz_places_remembered(places) == LAZ_PLACES_REMEMBERED);
    laz_places_free(places);
}

static void a_worker_that_drains_leaves_after_its_last_link(void)
{
    struct laz_places *places = laz_places_new(&key);

    laz_places_pool(places, "a", 2);
    laz_places_pool(places, "b", 1);
    UNIT_TEXT(actions(places), "+b +a ");
    const struct laz_places_given one = ask(places, 0, "a", ID("01"), ID("a1"));
    laz_places_drain(places);
    UNIT_TEXT(actions(places), "-b -a ");
    CU_ASSERT(ask(places, 0, "a", ID("02"), ID("a2")).code == LAZ_PLACE_DRAINING);
    CU_ASSERT(ask(places, 0, "a", ID("01"), ID("a2")).answer == LAZ_PLACES_AGAIN);
    laz_places_ended(places, 0, one.grant);
    UNIT_TEXT(actions(places), "exit ");
    UNIT_TEXT(actions(places), "");
    laz_places_free(places);
}

static void codes_have_words(void)
{
    for (int code = 0; code < LAZ_PLACE_CODES; code++) {
        const char *word = laz_place_code_word((enum laz_place_code)code);
        CU_ASSERT(laz_place_code_of(word, strlen(word)) == (enum laz_place_code)code);
    }
    CU_ASSERT(laz_place_code_of("new", 3) == LAZ_PLACE_UNKNOWN);
    CU_ASSERT(laz_place_code_passes(LAZ_PLACE_FULL) && laz_place_code_passes(LAZ_PLACE_DRAINING));
    CU_ASSERT(!laz_place_code_passes(LAZ_PLACE_DENIED) && !laz_place_code_passes(LAZ_PLACE_QUOTA));
}

/* ---- openings ---------------------------------------------------------------------------------
 */

static const struct laz_opening_limits quick = {
    .attempt_ms = 100, .backoff_ms = 10, .most_backoff = 40};

static struct laz_carrier_frame opened(const char *open, const char *link)
{
    return (struct laz_carrier_frame){.kind = LAZ_CARRIER_OPENED,
                                      .open = open,
                                      .open_len = LAZ_CARRIER_ID,
                                      .link = link,
                                      .link_len = LAZ_CARRIER_ID};
}

/* An opening at the time 0 with a deadline at 1000, in a state. */
static void opening_in(struct laz_opening *opening, struct laz_opening_queue *queue,
                       enum laz_opening_state state)
{
    const struct laz_carrier_frame frame = opened(ID("01"), ID("a1"));

    *queue = (struct laz_opening_queue){.most = 10};
    CU_ASSERT(laz_opening_begin(opening, &quick, queue, ID("01"), 0, 1000, NULL) == 0);
    if (state == LAZ_OPENING_WAITING)
        laz_opening_step(opening, 0, LAZ_OPENING_ON_NOBODY, NULL, 0);
    if (state == LAZ_OPENING_LINKED)
        laz_opening_step(opening, 0, LAZ_OPENING_ON_ANSWER, &frame, 0);
    if (state == LAZ_OPENING_FAILED)
        laz_opening_step(opening, 0, LAZ_OPENING_ON_CANCEL, NULL, 0);
    CU_ASSERT(opening->state == state);
}

#define ASKED   LAZ_OPENING_ASKED
#define WAITING LAZ_OPENING_WAITING
#define LINKED  LAZ_OPENING_LINKED
#define FAILED  LAZ_OPENING_FAILED

#define OPENED(its_open, its_link)                                                                 \
    {                                                                                              \
        .kind = LAZ_CARRIER_OPENED, .open = (its_open), .open_len = LAZ_CARRIER_ID,                \
        .link = (its_link), .link_len = LAZ_CARRIER_ID                                             \
    }
#define REFUSED(word)                                                                              \
    {                                                                                              \
        .kind = LAZ_CARRIER_REFUSED, .open = ID("01"), .open_len = LAZ_CARRIER_ID, .code = (word), \
        .code_len = sizeof(word) - 1                                                               \
    }
static const struct laz_carrier_frame same = OPENED(ID("01"), ID("a1"));
static const struct laz_carrier_frame other = OPENED(ID("01"), ID("a2"));
static const struct laz_carrier_frame foreign = OPENED(ID("02"), ID("a2"));
static const struct laz_carrier_frame full = REFUSED("full");
static const struct laz_carrier_frame denied = REFUSED("denied");

static const struct {
    enum laz_opening_event_type event;
    const struct laz_carrier_frame *frame;
    uint64_t now_ms;
    struct {
        enum laz_opening_state state;
        enum laz_opening_action action;
    } of[LAZ_OPENING_STATES]; /* asked, waiting, linked, failed */
} opening_rows[] = {
    {LAZ_OPENING_ON_ANSWER,
     &same,
     5,
     {{LINKED, LAZ_OPENING_LINK},
      {LINKED, LAZ_OPENING_LINK},
      {LINKED, LAZ_OPENING_NOTHING},
      {FAILED, LAZ_OPENING_CLOSE}}},
    {LAZ_OPENING_ON_ANSWER,
     &other,
     5,
     {{LINKED, LAZ_OPENING_LINK},
      {LINKED, LAZ_OPENING_LINK},
      {LINKED, LAZ_OPENING_CLOSE},
      {FAILED, LAZ_OPENING_CLOSE}}},
    {LAZ_OPENING_ON_ANSWER,
     &foreign,
     5,
     {{ASKED, LAZ_OPENING_NOTHING},
      {WAITING, LAZ_OPENING_NOTHING},
      {LINKED, LAZ_OPENING_NOTHING},
      {FAILED, LAZ_OPENING_NOTHING}}},
    {LAZ_OPENING_ON_ANSWER,
     &full,
     5,
     {{WAITING, LAZ_OPENING_NOTHING},
      {WAITING, LAZ_OPENING_NOTHING},
      {LINKED, LAZ_OPENING_NOTHING},
      {FAILED, LAZ_OPENING_NOTHING}}},
    {LAZ_OPENING_ON_ANSWER,
     &denied,
     5,
     {{FAILED, LAZ_OPENING_DENIED},
      {FAILED, LAZ_OPENING_DENIED},
      {LINKED, LAZ_OPENING_NOTHING},
      {FAILED, LAZ_OPENING_NOTHING}}},
    {LAZ_OPENING_ON_NOBODY,
     NULL,
     5,
     {{WAITING, LAZ_OPENING_NOTHING},
      {WAITING, LAZ_OPENING_NOTHING},
      {LINKED, LAZ_OPENING_NOTHING},
      {FAILED, LAZ_OPENING_NOTHING}}},
    {LAZ_OPENING_ON_REFUSED,
     NULL,
     5,
     {{FAILED, LAZ_OPENING_DENIED},
      {FAILED, LAZ_OPENING_DENIED},
      {LINKED, LAZ_OPENING_NOTHING},
      {FAILED, LAZ_OPENING_NOTHING}}},
    {LAZ_OPENING_ON_TICK,
     NULL,
     4,
     {{ASKED, LAZ_OPENING_NOTHING},
      {WAITING, LAZ_OPENING_NOTHING},
      {LINKED, LAZ_OPENING_NOTHING},
      {FAILED, LAZ_OPENING_NOTHING}}},
    {LAZ_OPENING_ON_TICK,
     NULL,
     100,
     {{ASKED, LAZ_OPENING_ASK},
      {ASKED, LAZ_OPENING_ASK},
      {LINKED, LAZ_OPENING_NOTHING},
      {FAILED, LAZ_OPENING_NOTHING}}},
    {LAZ_OPENING_ON_TICK,
     NULL,
     1000,
     {{FAILED, LAZ_OPENING_LATE},
      {FAILED, LAZ_OPENING_FULL},
      {LINKED, LAZ_OPENING_NOTHING},
      {FAILED, LAZ_OPENING_NOTHING}}},
    {LAZ_OPENING_ON_CANCEL,
     NULL,
     5,
     {{FAILED, LAZ_OPENING_CANCELLED},
      {FAILED, LAZ_OPENING_CANCELLED},
      {LINKED, LAZ_OPENING_NOTHING},
      {FAILED, LAZ_OPENING_NOTHING}}},
};

static void every_event_of_an_opening_in_every_state(void)
{
    for (size_t i = 0; i < sizeof opening_rows / sizeof *opening_rows; i++) {
        for (int state = 0; state < LAZ_OPENING_STATES; state++) {
            struct laz_opening_queue queue;
            struct laz_opening opening;
            opening_in(&opening, &queue, (enum laz_opening_state)state);
            CU_ASSERT(laz_opening_step(&opening, opening_rows[i].now_ms, opening_rows[i].event,
                                       opening_rows[i].frame,
                                       0) == opening_rows[i].of[state].action);
            CU_ASSERT(opening.state == opening_rows[i].of[state].state);
            const bool is_settled = opening.state == LINKED || opening.state == FAILED;
            CU_ASSERT(queue.n == (is_settled ? 0 : 1));
            CU_ASSERT((laz_opening_due(&opening) == UINT64_MAX) == is_settled);
        }
    }
}

static void waiting_grows_and_has_jitter(void)
{
    struct laz_opening_queue queue = {.most = 1};
    struct laz_opening opening;
    uint64_t now = 0;
    const struct {
        uint32_t random;
        uint64_t wait;
    } rows[] = {{0, 5}, {10, 20}, {20, 40}, {0, 20}, {UINT32_MAX, 20 + UINT32_MAX % 21}};

    CU_ASSERT(laz_opening_begin(&opening, &quick, &queue, ID("01"), 0, 1000, NULL) == 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        laz_opening_step(&opening, now, LAZ_OPENING_ON_NOBODY, NULL, rows[i].random);
        CU_ASSERT(laz_opening_due(&opening) == now + rows[i].wait);
        now = laz_opening_due(&opening);
        CU_ASSERT(laz_opening_step(&opening, now, LAZ_OPENING_ON_TICK, NULL, 0) == LAZ_OPENING_ASK);
    }
}

static void the_queue_of_openings_has_a_bound(void)
{
    struct laz_opening_queue queue = {.most = 1};
    struct laz_opening one, two;
    struct laz_error err = {0};

    CU_ASSERT(laz_opening_begin(&one, &quick, &queue, ID("01"), 0, 1000, &err) == 0);
    CU_ASSERT(laz_opening_begin(&two, &quick, &queue, ID("02"), 0, 1000, &err) == LAZ_EREFUSED);
    CU_ASSERT(laz_opening_step(&one, 0, LAZ_OPENING_ON_CANCEL, NULL, 0) == LAZ_OPENING_CANCELLED);
    CU_ASSERT(laz_opening_begin(&two, &quick, &queue, ID("02"), 0, 1000, &err) == 0);
}

static void what_is_asked_says_how_long_is_left(void)
{
    struct laz_opening_queue queue = {.most = 1};
    struct laz_carrier_frame frame;
    struct laz_opening opening;

    laz_opening_begin(&opening, &quick, &queue, ID("01"), 0, 1000, NULL);
    laz_opening_frame(&opening, "me", 400, &frame);
    CU_ASSERT(frame.kind == LAZ_CARRIER_OPEN && frame.deadline_ms == 600);
    laz_opening_frame(&opening, "me", 4000, &frame);
    CU_ASSERT(frame.deadline_ms == 0);
}

static void a_link_that_nobody_wants_is_closed_once(void)
{
    struct laz_carrier_frame stray = opened(ID("01"), ID("a1")), end;

    CU_ASSERT(laz_opening_close(&stray, &end));
    CU_ASSERT(end.kind == LAZ_CARRIER_END && strcmp(end.link, ID("a1")) == 0);
    CU_ASSERT(laz_link_reason_said(end.reason, end.reason_len, false) == LAZ_LINK_SUPERFLUOUS);
    stray.kind = LAZ_CARRIER_KEEP;
    CU_ASSERT(laz_opening_close(&stray, &end));
    stray.kind = LAZ_CARRIER_END; /* of an end no end comes */
    CU_ASSERT(!laz_opening_close(&stray, &end));
    stray.kind = LAZ_CARRIER_REFUSED;
    CU_ASSERT(!laz_opening_close(&stray, &end));
}

#ifdef HAVE_FAULTS
static void without_memory_no_place_is_taken(void)
{
    const struct laz_carrier_frame frame = open_frame(ID("01"));
    struct laz_places_given given;

    for (unsigned long n = 1; n <= 2; n++) {
        fault_begin(n, false);
        CU_ASSERT(laz_places_new(&key) == NULL);
        fault_end();
    }
    struct laz_places *places = laz_places_new(&key);
    fault_begin(1, true);
    CU_ASSERT(laz_places_pool(places, "a", 1) == LAZ_ENOMEM);
    fault_end();
    CU_ASSERT(laz_places_pool(places, "a", 100) == 0);
    fault_begin(1, true);
    CU_ASSERT(laz_places_open(places, 0, "a", &frame, ID("a1"), &given) == LAZ_ENOMEM);
    fault_end();
    CU_ASSERT(laz_places_used(places) == 0 && laz_places_free_of(places, "a") == 100);
    /* A table that cannot grow has longer lists. */
    for (unsigned char i = 0; i < 40; i++) {
        const unsigned char bytes[16] = {i};
        char open[LAZ_CARRIER_ID + 1];
        laz_carrier_id(open, bytes);
        fault_begin(2, true);
        CU_ASSERT(ask(places, 0, "a", open, ID("a1")).answer == LAZ_PLACES_NEW);
        fault_end();
        CU_ASSERT(ask(places, 0, "a", open, ID("a1")).answer == LAZ_PLACES_AGAIN);
    }
    laz_places_free(places);
}
#endif

static const struct unit_test tests[] = {
#ifdef HAVE_FAULTS
    UNIT(without_memory_no_place_is_taken),
#endif
    UNIT(a_worker_listens_while_it_has_a_place),
    UNIT(an_opening_that_comes_twice_takes_one_place),
    UNIT(what_is_remembered_has_a_bound),
    UNIT(a_worker_that_drains_leaves_after_its_last_link),
    UNIT(codes_have_words),
    UNIT(every_event_of_an_opening_in_every_state),
    UNIT(waiting_grows_and_has_jitter),
    UNIT(the_queue_of_openings_has_a_bound),
    UNIT(what_is_asked_says_how_long_is_left),
    UNIT(a_link_that_nobody_wants_is_closed_once),
    {0},
};

int main(void)
{
    return unit_run("carrier_places", tests);
}
