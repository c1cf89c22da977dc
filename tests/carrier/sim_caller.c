/* SPDX-License-Identifier: MIT */
/* sim_caller.c - callers of the simulation: each opens sessions, executes, answers calls of tools.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

static void side_pump(uint32_t slot);

static bool side_is(uint32_t slot, uint32_t generation)
{
    return slot < sim.n_sides && sim.sides[slot].is_used &&
           sim.sides[slot].generation == generation;
}

static struct bus_port *side_port(const struct sim_side *side)
{
    return sim.callers[side->caller].port;
}

/* ---- the end of a session ---------------------------------------------------------------------
 */

static void side_free(uint32_t slot)
{
    struct sim_side *side = &sim.sides[slot];
    struct sim_caller *caller = &sim.callers[side->caller];

    if (side->before != SIM_NONE)
        sim.sides[side->before].next = side->next;
    else
        caller->sides = side->next;
    if (side->next != SIM_NONE)
        sim.sides[side->next].before = side->before;
    if (side->is_linked)
        laz_link_fini(&side->link);
    laz_requests_fini(&side->requests);
    side->is_used = false;
    side->next = sim.free_side;
    sim.free_side = slot;
}

/* An execution ends for its caller, once. */
static void side_ended(const struct sim_side *side, int64_t id)
{
    const uint64_t execution = (uint64_t)id - 1;
    struct sim_session *session = &sim.sessions[execution / SIM_EXECUTIONS];

    if (execution / SIM_EXECUTIONS != side->session)
        sim_wrong("an execution of another session ended in session %u", side->session);
    if (++session->ended[execution % SIM_EXECUTIONS] != 1)
        sim_wrong("execution %llu has ended twice", (unsigned long long)execution);
}

static void side_end(uint32_t slot, enum laz_link_reason reason)
{
    struct sim_side *side = &sim.sides[slot];
    struct laz_open_request request;

    while (laz_requests_end(&side->requests, &request)) {
        if (!request.is_execute)
            continue;
        side_ended(side, request.id);
        sim.n_worker_lost++;
    }
    sim_over(side->session, reason == LAZ_LINK_CLOSED ? SIM_DONE : SIM_LOST, reason);
    side_free(slot);
}

/* ---- what a session does ----------------------------------------------------------------------
 */

static bool side_write(struct sim_side *side, char letter, uint64_t execution, uint32_t more,
                       size_t size)
{
    static char line[SIM_LINE_MOST + 1];
    const size_t len = sim_line(line, size, letter, side->n_out, execution, more);

    if (laz_link_write(&side->link, line, len) != 0)
        return false;
    side->n_out++;
    return true;
}

static void side_close(uint32_t slot)
{
    const struct laz_link_event event = {.type = LAZ_LINK_ON_END, .reason = LAZ_LINK_CLOSED};

    laz_link_step(&sim.sides[slot].link, sim_ms(), &event);
}

static void side_interrupts(uint32_t slot, uint32_t generation)
{
    if (!side_is(slot, generation) || !sim.sides[slot].is_linked || !sim.sides[slot].requests.n)
        return;
    side_write(&sim.sides[slot], 'I',
               (uint64_t)sim.sides[slot].session * SIM_EXECUTIONS + sim.sides[slot].done, 0, 0);
    side_pump(slot);
}

/* The next execution, after a file for some; or the session is closed. */
static void side_goes_on(uint32_t slot, uint32_t generation)
{
    if (!side_is(slot, generation) || !sim.sides[slot].is_linked)
        return;
    struct sim_side *side = &sim.sides[slot];
    const uint64_t execution = (uint64_t)side->session * SIM_EXECUTIONS + side->done;
    struct laz_open_request request = {.id = (int64_t)execution + 1, .is_execute = true};
    struct sim_session *session = &sim.sessions[side->session];

    if (side->done == side->n_executions) {
        side_close(slot);
        side_pump(slot);
        return;
    }
    if (sim_random(100) < 3) /* a file of several parts */
        side_write(side, 'F', execution, 0, (16 << 10) + sim_random(SIM_LINE_MOST - (16 << 10)));
    const uint32_t tools = sim_random(3) ? (uint32_t)sim_random(4) : 0;
    const uint32_t outputs = side->is_slow ? 24 : sim_random(4) ? 0 : 2;
    if (side->link.state == LAZ_LINK_OPEN &&
        laz_requests_add(&side->requests, &request, NULL) == 0) {
        session->n_started++;
        sim.n_executions++;
        side->asked_us = sim_us();
        side->work_us = tools || outputs ? 0 : 1;
        side_write(side, 'X', execution, tools << 8 | outputs, 200 + sim_random(800));
        if (sim_random(100) < 5)
            sim_after(side_port(side), sim_random(SIM_SECOND / 2), side_interrupts, slot,
                      generation);
    }
    side_pump(slot);
}

static void side_reads(uint32_t slot, uint32_t generation)
{
    if (!side_is(slot, generation) || !sim.sides[slot].is_linked)
        return;
    struct sim_side *side = &sim.sides[slot];
    const struct laz_link_event event = {.type = LAZ_LINK_ON_READ, .bytes = side->unread};

    side->reads = false;
    side->unread = 0;
    laz_link_step(&side->link, sim_ms(), &event);
    side_pump(slot);
}

/* Some readers take their time. */
static void side_was_read(uint32_t slot, size_t len)
{
    struct sim_side *side = &sim.sides[slot];
    const struct laz_link_event event = {.type = LAZ_LINK_ON_READ, .bytes = len};

    if (!side->is_slow) {
        laz_link_step(&side->link, sim_ms(), &event);
        return;
    }
    side->unread += len;
    if (!side->reads)
        sim_after(side_port(side), 50000 + sim_random(200000), side_reads, slot, side->generation);
    side->reads = true;
}

static void side_result(uint32_t slot, const struct sim_said *said)
{
    struct sim_side *side = &sim.sides[slot];
    struct laz_open_request request;

    if (!laz_requests_take(&side->requests, (int64_t)said->execution + 1, &request)) {
        sim_wrong("a result came for execution %llu, which is not open", said->execution);
        return;
    }
    if (sim.sessions[side->session].ran[said->execution % SIM_EXECUTIONS] != 1)
        sim_wrong("execution %llu has a result and did not run", said->execution);
    side_ended(side, request.id);
    sim.n_results++;
    if (side->work_us) /* without calls: what it took beside the work, which `more` has */
        sim_observe(&sim.executed, sim_us() - side->asked_us - said->more);
    side->done++;
    const bool is_long = (side->plan >> 8) % 100 < 5;
    sim_after(side_port(side),
              is_long ? sim_random(25 * SIM_SECOND) : SIM_SECOND / 50 + sim_random(4 * SIM_SECOND),
              side_goes_on, slot, side->generation);
}

static void side_line(uint32_t slot, const char *line, size_t len)
{
    struct sim_side *side = &sim.sides[slot];
    struct sim_said said;

    if (!sim_read(line, len, &said)) {
        sim_wrong("session %u got a line that nobody has sent", side->session);
        return;
    }
    if (said.number != side->n_in++)
        sim_wrong("session %u got line %u in place of line %u", side->session, said.number,
                  side->n_in - 1);
    if (said.letter == 'H') {
        sim_observe(&sim.opened, sim_us() - side->begun_us);
        side_goes_on(slot, side->generation);
        return; /* which has pumped: the caller of this goes on all the same */
    }
    if (said.letter == 'T')
        side_write(side, 'A', said.execution, said.more, 60);
    if (said.letter == 'R')
        side_result(slot, &said);
}

/* ---- the link ---------------------------------------------------------------------------------
 */

static void side_due(uint32_t slot, uint32_t generation)
{
    static const struct laz_link_event tick = {.type = LAZ_LINK_ON_TICK};

    if (!side_is(slot, generation))
        return;
    struct sim_side *side = &sim.sides[slot];
    side->has_link_timer = false;
    if (laz_link_due(&side->link) <= sim_ms())
        laz_link_step(&side->link, sim_ms(), &tick);
    side_pump(slot);
}

static void side_pump(uint32_t slot)
{
    char subject[LAZ_SUBJECT_SIZE], inbox[LAZ_SUBJECT_SIZE];
    struct sim_side *side = &sim.sides[slot];
    const uint32_t generation = side->generation;
    struct laz_link_action action;

    while (side_is(slot, generation) && side->is_linked &&
           laz_link_next(&side->link, sim_ms(), &action)) {
        switch (action.type) {
        case LAZ_LINK_SEND:
            laz_subject_link(subject, side->link.id);
            laz_subject_inbox(inbox, sim.callers[side->caller].name, side->opening.open);
            sim_send(side_port(side), subject, inbox, &action.frame);
            break;
        case LAZ_LINK_LINE:
            sim_look(&side->link);
            side_was_read(slot, action.len);
            side_line(slot, action.line, action.len);
            break;
        default:
            side_end(slot, action.reason);
            return;
        }
    }
    if (!side_is(slot, generation) || side->has_link_timer)
        return;
    sim_look(&side->link);
    side->has_link_timer = true;
    sim_after(side_port(side), laz_link_due(&side->link) * 1000 - sim_us(), side_due, slot,
              generation);
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static void side_opens(uint32_t slot, enum laz_opening_event_type event,
                       const struct laz_carrier_frame *frame);

static void side_opening_due(uint32_t slot, uint32_t generation)
{
    if (side_is(slot, generation) && !sim.sides[slot].is_linked &&
        laz_opening_due(&sim.sides[slot].opening) <= sim_ms())
        side_opens(slot, LAZ_OPENING_ON_TICK, NULL);
}

static void side_ask(uint32_t slot)
{
    struct sim_side *side = &sim.sides[slot];
    const char *caller = sim.callers[side->caller].name;
    char subject[LAZ_SUBJECT_SIZE], reply[LAZ_SUBJECT_SIZE], text[16];
    struct laz_carrier_frame frame;

    laz_opening_frame(&side->opening, caller, sim_ms(), &frame);
    frame.len = (size_t)snprintf(text, sizeof text, "%u", side->session);
    frame.data = text;
    laz_subject_open(subject, SIM_POOL);
    laz_subject_answer(reply, caller, side->opening.open);
    sim_send(side_port(side), subject, reply, &frame);
}

/* The worker of a link that nobody wants is told. */
static void caller_stray(const struct sim_caller *caller, const struct laz_carrier_frame *frame)
{
    struct laz_carrier_frame end;
    char subject[LAZ_SUBJECT_SIZE], id[LAZ_CARRIER_ID + 1] = "";

    if (!laz_opening_close(frame, &end))
        return;
    memcpy(id, frame->link, LAZ_CARRIER_ID);
    laz_subject_link(subject, id);
    sim_send(caller->port, subject, NULL, &end);
}

static void side_linked(uint32_t slot, const struct laz_carrier_frame *frame)
{
    struct sim_side *side = &sim.sides[slot];

    laz_link_init(&side->link, &sim_limits, false, side->opening.link, frame->boot, sim_ms());
    side->is_linked = true;
    if (++sim.live > sim.most_live)
        sim.most_live = sim.live;
    side_pump(slot);
}

static void side_opens(uint32_t slot, enum laz_opening_event_type event,
                       const struct laz_carrier_frame *frame)
{
    struct sim_side *side = &sim.sides[slot];
    const uint32_t generation = side->generation;

    switch (laz_opening_step(&side->opening, sim_ms(), event, frame, (uint32_t)sim_random(0))) {
    case LAZ_OPENING_ASK:
        side_ask(slot);
        break;
    case LAZ_OPENING_LINK:
        side_linked(slot, frame);
        return;
    case LAZ_OPENING_CLOSE:
        sim.n_superfluous++;
        caller_stray(&sim.callers[side->caller], frame);
        return;
    case LAZ_OPENING_NOTHING:
        break;
    default:
        sim_over(side->session, SIM_FAILED, LAZ_LINK_NONE);
        side_free(slot);
        return;
    }
    const uint64_t due = laz_opening_due(&side->opening);
    if (due == UINT64_MAX || due == side->opening_timer_us)
        return;
    side->opening_timer_us = due;
    sim_after(side_port(side), due > sim_ms() ? due * 1000 - sim_us() : 0, side_opening_due, slot,
              generation);
}

void sim_session_begin(uint32_t index)
{
    struct sim_session *session = &sim.sessions[index];
    struct sim_caller *caller = &sim.callers[session->caller];
    const uint32_t slot = sim.free_side;
    char open[LAZ_CARRIER_ID + 1];

    if (!caller->port || slot == SIM_NONE) {
        sim_over(index, caller->port ? SIM_FAILED : SIM_DEAD, LAZ_LINK_NONE);
        return;
    }
    struct sim_side *side = &sim.sides[slot];
    sim.free_side = side->next;
    *side = (struct sim_side){.generation = side->generation + 1,
                              .is_used = true,
                              .session = index,
                              .caller = session->caller,
                              .next = caller->sides,
                              .before = SIM_NONE,
                              .begun_us = sim_us(),
                              .plan = (uint32_t)sim_random(0)};
    if (caller->sides != SIM_NONE)
        sim.sides[caller->sides].before = slot;
    caller->sides = slot;
    side->n_executions = (uint8_t)(1 + side->plan % SIM_EXECUTIONS);
    side->is_slow = (side->plan >> 16) % 200 == 0;
    sim_id(open, slot, side->generation);
    if (laz_opening_begin(&side->opening, &laz_opening_usual, &caller->queue, open, sim_ms(),
                          sim_ms() + 30000, NULL) != 0) {
        sim_over(index, SIM_FAILED, LAZ_LINK_NONE);
        side_free(slot);
        return;
    }
    side_ask(slot);
    side->opening_timer_us = laz_opening_due(&side->opening);
    sim_after(caller->port, side->opening_timer_us * 1000 - sim_us(), side_opening_due, slot,
              side->generation);
}

/* ---- what a caller hears ----------------------------------------------------------------------
 */

static uint32_t caller_slot(uint32_t caller, const char *subject, bool *is_answer)
{
    const char *open = laz_subject_opening(subject, sim.callers[caller].name, is_answer);
    const uint32_t slot = open ? sim_id_slot(open) : SIM_NONE;

    return open && slot < sim.n_sides && sim.sides[slot].is_used &&
                   sim.sides[slot].caller == caller &&
                   strncmp(sim.sides[slot].opening.open, open, LAZ_CARRIER_ID) == 0
               ? slot
               : SIM_NONE;
}

static void caller_received(void *user, const char *subject, const char *reply, const char *data,
                            size_t len)
{
    const uint32_t index = (uint32_t)(uintptr_t)user;
    struct laz_link_event event = {.type = LAZ_LINK_ON_FRAME};
    struct laz_carrier_frame frame;
    bool is_answer = false;
    const uint32_t slot = caller_slot(index, subject, &is_answer);
    struct sim_side *side = slot == SIM_NONE ? NULL : &sim.sides[slot];

    (void)reply;
    if (laz_carrier_parse(data, len, &frame, NULL) != 0) {
        event.type = LAZ_LINK_ON_NOISE;
        if (side && side->is_linked)
            laz_link_step(&side->link, sim_ms(), &event);
        return;
    }
    event.frame = &frame;
    if (is_answer && side) {
        side_opens(slot, LAZ_OPENING_ON_ANSWER, &frame);
    } else if (!side || (side->is_linked && frame.link &&
                         !laz_carrier_is_same(side->link.id, frame.link, frame.link_len))) {
        sim.n_strays++;
        caller_stray(&sim.callers[index], &frame);
    } else if (side->is_linked) {
        laz_link_step(&side->link, sim_ms(), &event);
        side_pump(slot);
    }
}

static void caller_nobody(void *user, const char *reply)
{
    static const struct laz_link_event event = {.type = LAZ_LINK_ON_NOBODY};
    bool is_answer = false;
    const uint32_t slot = caller_slot((uint32_t)(uintptr_t)user, reply, &is_answer);

    if (slot == SIM_NONE)
        return;
    sim.n_nobody++;
    if (is_answer) {
        side_opens(slot, LAZ_OPENING_ON_NOBODY, NULL);
    } else if (sim.sides[slot].is_linked) {
        laz_link_step(&sim.sides[slot].link, sim_ms(), &event);
        side_pump(slot);
    }
}

static void caller_connected(void *user)
{
    static const struct laz_link_event event = {.type = LAZ_LINK_ON_CONNECTED};
    const struct sim_caller *caller = &sim.callers[(uintptr_t)user];

    for (uint32_t slot = caller->sides, next; slot != SIM_NONE; slot = next) {
        next = sim.sides[slot].next;
        if (!sim.sides[slot].is_linked)
            continue;
        laz_link_step(&sim.sides[slot].link, sim_ms(), &event);
        side_pump(slot);
    }
}

void sim_caller_begin(uint32_t index)
{
    static const struct bus_calls calls = {.connected = caller_connected, .nobody = caller_nobody};
    struct sim_caller *caller = &sim.callers[index];
    char subject[LAZ_SUBJECT_SIZE];

    snprintf(caller->name, sizeof caller->name, "caller-%u", index);
    caller->sides = SIM_NONE;
    caller->queue.most = 1000;
    caller->port = bus_port_new(sim.bus, &calls, (void *)(uintptr_t)index);
    laz_subject_caller(subject, caller->name);
    bus_subscribe(caller->port, subject, NULL, caller_received, (void *)(uintptr_t)index);
}

void sim_caller_kill(uint32_t index, bool vanishes)
{
    struct sim_caller *caller = &sim.callers[index];

    if (vanishes)
        sim_vanish(caller->port);
    else
        bus_port_free(caller->port);
    caller->port = NULL;
    caller->dead_us = sim_us();
    while (caller->sides != SIM_NONE) {
        const uint32_t slot = caller->sides;
        sim.live -= sim.sides[slot].is_linked;
        sim_over(sim.sides[slot].session, SIM_DEAD, LAZ_LINK_NONE);
        side_free(slot);
    }
}
