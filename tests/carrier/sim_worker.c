/* SPDX-License-Identifier: MIT */
/* sim_worker.c - workers of the simulation: each gives its places, and plays the sessions in them.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define LATE_US  (SIM_SECOND * 3 / 2) /* on the way, and until a clock is looked at */
#define GRACE_US (3 * SIM_SECOND)     /* of a worker that drains */
#define AGAIN_US (SIM_SECOND / 2)     /* until it is there again */
#define LEASE_US ((uint64_t)sim_limits.lease_ms * 1000)
#define OUTPUT   ((size_t)32 << 10)

static void link_pump(uint32_t slot);
static void places_pump(uint32_t index);

static bool link_is(uint32_t slot, uint32_t generation)
{
    return slot < sim.n_links && sim.links[slot].is_used &&
           sim.links[slot].generation == generation;
}

static struct bus_port *link_port(const struct sim_link *link)
{
    return sim.workers[link->worker].port;
}

/* ---- the end of a link ------------------------------------------------------------------------
 */

static void link_free(uint32_t slot)
{
    struct sim_link *link = &sim.links[slot];
    struct sim_worker *worker = &sim.workers[link->worker];

    if (link->before != SIM_NONE)
        sim.links[link->before].next = link->next;
    else
        worker->links = link->next;
    if (link->next != SIM_NONE)
        sim.links[link->next].before = link->before;
    worker->n_links--;
    laz_link_fini(&link->link);
    link->is_used = false;
    link->next = sim.free_link;
    sim.free_link = slot;
}

/* Nothing is left on a worker later than the lease after its caller is gone. */
static void link_check_lease(const struct sim_link *link)
{
    const struct sim_session *session = &sim.sessions[link->session];
    uint64_t from = session->ended_us;

    if (session->outcome == SIM_OPEN)
        return;
    sim_observe(&sim.orphaned, sim_us() - from);
    if (from < sim.workers[link->worker].paused_us)
        from = sim.workers[link->worker].paused_us;
    if (sim_us() > from + LEASE_US + LATE_US)
        sim_wrong("session %u was on its worker for %.1f s after its end", link->session,
                  (double)(sim_us() - session->ended_us) / 1e6);
}

static void link_end(uint32_t slot)
{
    struct sim_link *link = &sim.links[slot];
    const uint32_t index = link->worker;
    struct sim_worker *worker = &sim.workers[index];

    link_check_lease(link);
    bus_unsubscribe(link->sub, NULL, NULL);
    laz_places_ended(worker->places, sim_ms(), link->grant);
    link_free(slot);
    if (laz_places_used(worker->places) != worker->n_links)
        sim_wrong("worker %u has %u links, and %zu places in use", index, worker->n_links,
                  laz_places_used(worker->places));
    places_pump(index);
}

/* ---- the session ------------------------------------------------------------------------------
 */

static bool link_write(struct sim_link *link, char letter, uint32_t more, size_t size)
{
    static char line[SIM_LINE_MOST + 1];
    const size_t len = sim_line(line, size, letter, link->n_out, link->execution, more);

    if (laz_link_write(&link->link, line, len) != 0)
        return false;
    link->n_out++;
    return true;
}

static void link_result(struct sim_link *link)
{
    link->phase = SIM_IDLE;
    link->run++;
    link_write(link, 'R', (uint32_t)(sim_us() - link->begun_us), 300);
}

/* Output is made as long as the reader keeps up. */
static void link_outputs(struct sim_link *link)
{
    while (link->phase == SIM_WRITING && link->outputs &&
           laz_link_waiting(&link->link) < SIM_QUIET && link_write(link, 'O', 0, OUTPUT))
        link->outputs--;
    if (link->phase == SIM_WRITING && !link->outputs)
        link_result(link);
}

static void link_works(uint32_t slot, uint32_t stamp)
{
    struct sim_link *link = &sim.links[slot];

    if (slot >= sim.n_links || !link->is_used || link->run + link->generation * 1000 != stamp ||
        link->phase != SIM_WORKING)
        return;
    if (link->tools) {
        link->phase = SIM_CALLING;
        link->call_us = sim_us();
        link_write(link, 'T', link->tools, 200);
    } else {
        link->phase = SIM_WRITING;
        link_outputs(link);
    }
    link_pump(slot);
}

static void link_work(uint32_t slot, uint64_t us)
{
    struct sim_link *link = &sim.links[slot];

    link->phase = SIM_WORKING;
    link->run++;
    sim_after(link_port(link), us, link_works, slot, link->run + link->generation * 1000);
}

static void link_execute(uint32_t slot, const struct sim_said *said)
{
    struct sim_link *link = &sim.links[slot];
    const uint64_t execution = said->execution;

    if (link->phase != SIM_IDLE)
        sim_wrong("session %u executes two at a time", link->session);
    if (execution / SIM_EXECUTIONS != link->session) {
        sim_wrong("session %u got an execution of session %llu", link->session,
                  (unsigned long long)execution / SIM_EXECUTIONS);
        return;
    }
    if (++sim.sessions[link->session].ran[execution % SIM_EXECUTIONS] != 1)
        sim_wrong("execution %llu runs twice", (unsigned long long)execution);
    link->execution = execution;
    link->tools = said->more >> 8;
    link->outputs = said->more & 255;
    link->begun_us = sim_us();
    link_work(slot, 2000 + sim_random(200000));
}

static void link_line(uint32_t slot, const char *text, size_t len)
{
    struct sim_link *link = &sim.links[slot];
    struct sim_said said;

    if (!sim_read(text, len, &said)) {
        sim_wrong("a worker got a line that nobody has sent");
        return;
    }
    if (said.number != link->n_in++)
        sim_wrong("a worker got line %u in place of line %u", said.number, link->n_in - 1);
    if (said.letter == 'X') {
        link_execute(slot, &said);
    } else if (said.letter == 'A' && link->phase == SIM_CALLING && said.more == link->tools) {
        sim_observe(&sim.called, sim_us() - link->call_us);
        link->tools--;
        link_work(slot, 500 + sim_random(5000));
    } else if (said.letter == 'I' && link->phase != SIM_IDLE && said.execution == link->execution) {
        link_result(link);
    }
}

/* ---- the link ---------------------------------------------------------------------------------
 */

static void link_due(uint32_t slot, uint32_t generation)
{
    static const struct laz_link_event tick = {.type = LAZ_LINK_ON_TICK};

    if (!link_is(slot, generation))
        return;
    sim.links[slot].has_link_timer = false;
    if (laz_link_due(&sim.links[slot].link) <= sim_ms())
        laz_link_step(&sim.links[slot].link, sim_ms(), &tick);
    link_pump(slot);
}

static void link_pump(uint32_t slot)
{
    char subject[LAZ_SUBJECT_SIZE], inbox[LAZ_SUBJECT_SIZE];
    struct sim_link *link = &sim.links[slot];
    struct laz_link_event read = {.type = LAZ_LINK_ON_READ};
    struct laz_link_action action;

    while (laz_link_next(&link->link, sim_ms(), &action)) {
        if (action.type == LAZ_LINK_END_IT) {
            link_end(slot);
            return;
        }
        if (action.type == LAZ_LINK_SEND) {
            laz_subject_inbox(subject, link->caller, link->open);
            laz_subject_link(inbox, link->link.id);
            sim_send(link_port(link), subject, inbox, &action.frame);
            link_outputs(link);
            continue;
        }
        sim_look(&link->link);
        link_line(slot, action.line, action.len);
        read.bytes = action.len;
        laz_link_step(&link->link, sim_ms(), &read);
    }
    sim_look(&link->link);
    if (link->has_link_timer)
        return;
    link->has_link_timer = true;
    sim_after(link_port(link), laz_link_due(&link->link) * 1000 - sim_us(), link_due, slot,
              link->generation);
}

static void link_received(void *user, const char *subject, const char *reply, const char *data,
                          size_t len)
{
    const uint32_t slot = (uint32_t)(uintptr_t)user;
    struct laz_link_event event = {.type = LAZ_LINK_ON_FRAME};
    struct laz_carrier_frame frame;

    (void)subject;
    (void)reply;
    if (!link_is(slot, (uint32_t)((uintptr_t)user >> 32)))
        return;
    if (laz_carrier_parse(data, len, &frame, NULL) != 0)
        event.type = LAZ_LINK_ON_NOISE;
    event.frame = &frame;
    laz_link_step(&sim.links[slot].link, sim_ms(), &event);
    link_pump(slot);
}

/* ---- places -----------------------------------------------------------------------------------
 */

static void worker_again(uint32_t index, uint32_t generation)
{
    if (!sim.workers[index].port && sim.workers[index].generation == generation)
        sim_worker_begin(index);
}

static void worker_open(uint32_t index, const struct laz_carrier_frame *open, const char *reply);

static void worker_received(void *user, const char *subject, const char *reply, const char *data,
                            size_t len)
{
    struct laz_carrier_frame frame;

    (void)subject;
    if (laz_carrier_parse(data, len, &frame, NULL) == 0 && frame.kind == LAZ_CARRIER_OPEN && reply)
        worker_open((uint32_t)(uintptr_t)user, &frame, reply);
}

static void places_pump(uint32_t index)
{
    struct sim_worker *worker = &sim.workers[index];
    struct laz_places_action action;
    char subject[LAZ_SUBJECT_SIZE];

    while (laz_places_next(worker->places, &action)) {
        switch (action.type) {
        case LAZ_PLACES_SUBSCRIBE:
            laz_subject_open(subject, action.pool);
            worker->opens = bus_subscribe(worker->port, subject, LAZ_SUBJECT_QUEUE, worker_received,
                                          (void *)(uintptr_t)index);
            break;
        case LAZ_PLACES_UNSUBSCRIBE:
            bus_unsubscribe(worker->opens, NULL, NULL);
            break;
        default:
            if (worker->n_links)
                sim_wrong("worker %u leaves with %u links", index, worker->n_links);
            sim.n_drained++;
            sim_worker_kill(index, false);
            return;
        }
    }
}

/* A place is taken: what the session needs is made before its caller hears of it. */
static void worker_new(uint32_t index, uint32_t slot, const struct laz_carrier_frame *open,
                       const struct laz_places_given *given)
{
    struct sim_worker *worker = &sim.workers[index];
    struct sim_link *link = &sim.links[slot];
    char subject[LAZ_SUBJECT_SIZE], text[16] = "";

    for (uint32_t other = worker->links; other != SIM_NONE; other = sim.links[other].next)
        if (strncmp(sim.links[other].open, open->open, LAZ_CARRIER_ID) == 0)
            sim_wrong("worker %u gives two places to one opening", index);
    sim.free_link = link->next;
    *link = (struct sim_link){.generation = link->generation + 1,
                              .is_used = true,
                              .worker = index,
                              .grant = given->grant,
                              .next = worker->links,
                              .before = SIM_NONE};
    if (worker->links != SIM_NONE)
        sim.links[worker->links].before = slot;
    worker->links = slot;
    worker->n_links++;
    worker->given++;
    memcpy(link->open, open->open, LAZ_CARRIER_ID);
    memcpy(link->caller, open->caller, open->caller_len);
    memcpy(text, open->data, open->len < sizeof text ? open->len : 0);
    link->session = (uint32_t)strtoul(text, NULL, 10);
    laz_link_init(&link->link, &sim_limits, true, given->link, worker->boot, sim_ms());
    laz_subject_link(subject, given->link);
    link->sub = bus_subscribe(worker->port, subject, NULL, link_received,
                              (void *)((uintptr_t)slot | (uintptr_t)link->generation << 32));
}

static void worker_open(uint32_t index, const struct laz_carrier_frame *open, const char *reply)
{
    struct sim_worker *worker = &sim.workers[index];
    const uint32_t slot = sim.free_link;
    struct laz_places_given given;
    char id[LAZ_CARRIER_ID + 1];

    if (slot == SIM_NONE || open->caller_len >= sizeof sim.links[slot].caller)
        return;
    sim_id(id, slot, sim.links[slot].generation + 1);
    laz_places_open(worker->places, sim_ms(), SIM_POOL, open, id, &given);
    struct laz_carrier_frame answer = {
        .kind = given.answer == LAZ_PLACES_REFUSED ? LAZ_CARRIER_REFUSED : LAZ_CARRIER_OPENED,
        .open = open->open,
        .open_len = open->open_len,
        .worker = worker->name,
        .worker_len = strlen(worker->name),
        .boot = worker->boot,
        .boot_len = LAZ_CARRIER_ID,
        .lease_ms = sim_limits.lease_ms,
    };
    if (given.answer == LAZ_PLACES_REFUSED) {
        answer.code = laz_place_code_word(given.code);
        answer.code_len = strlen(answer.code);
        sim.n_refused++;
    } else {
        answer.link = given.link;
        answer.link_len = LAZ_CARRIER_ID;
    }
    sim.n_again += given.answer == LAZ_PLACES_AGAIN;
    if (given.answer == LAZ_PLACES_NEW)
        worker_new(index, slot, open, &given);
    sim_send(worker->port, reply, NULL, &answer);
    if (given.answer != LAZ_PLACES_NEW)
        return;
    link_write(&sim.links[slot], 'H', 0, 200);
    link_pump(slot);
    if (laz_places_free_of(worker->places, SIM_POOL) > sim.options.places)
        sim_wrong("worker %u has more places than it has", index);
    places_pump(index);
}

/* ---- the machine ------------------------------------------------------------------------------
 */

static void worker_each(uint32_t index, const struct laz_link_event *event)
{
    for (uint32_t slot = sim.workers[index].links, next; slot != SIM_NONE; slot = next) {
        next = sim.links[slot].next;
        laz_link_step(&sim.links[slot].link, sim_ms(), event);
        link_pump(slot);
    }
}

static void worker_connected(void *user)
{
    static const struct laz_link_event event = {.type = LAZ_LINK_ON_CONNECTED};

    worker_each((uint32_t)(uintptr_t)user, &event);
}

static void worker_nobody(void *user, const char *reply)
{
    static const struct laz_link_event event = {.type = LAZ_LINK_ON_NOBODY};
    const char *id = reply + strlen("lz.1.s.");
    const uint32_t slot = sim_id_slot(id);

    (void)user;
    if (slot >= sim.n_links || !sim.links[slot].is_used ||
        strncmp(sim.links[slot].link.id, id, LAZ_CARRIER_ID) != 0)
        return;
    laz_link_step(&sim.links[slot].link, sim_ms(), &event);
    link_pump(slot);
}

void sim_worker_begin(uint32_t index)
{
    static const struct bus_calls calls = {.connected = worker_connected, .nobody = worker_nobody};
    const struct laz_siphash_key key = {sim_random(0), sim_random(0)};
    struct sim_worker *worker = &sim.workers[index];

    snprintf(worker->name, sizeof worker->name, "worker-%u", index);
    sim_id(worker->boot, index, ++worker->generation);
    worker->links = SIM_NONE;
    worker->n_links = 0;
    worker->drains = worker->is_paused = false;
    worker->port = bus_port_new(sim.bus, &calls, (void *)(uintptr_t)index);
    worker->places = laz_places_new(&key);
    laz_places_pool(worker->places, SIM_POOL, sim.options.places);
    places_pump(index);
}

void sim_worker_kill(uint32_t index, bool vanishes)
{
    struct sim_worker *worker = &sim.workers[index];

    while (worker->links != SIM_NONE)
        link_free(worker->links);
    if (vanishes)
        sim_vanish(worker->port);
    else
        bus_port_free(worker->port);
    worker->port = NULL;
    laz_places_free(worker->places);
    worker->places = NULL;
    sim_after(NULL, AGAIN_US, worker_again, index, worker->generation);
}

static void worker_drained(uint32_t index, uint32_t generation)
{
    const struct sim_worker *worker = &sim.workers[index];

    if (worker->port && worker->generation == generation && worker->paused_us + GRACE_US < sim_us())
        sim_wrong("worker %u drains and does not leave: %u links", index, worker->n_links);
}

static void worker_ends(uint32_t index, uint32_t generation)
{
    const struct laz_link_event event = {.type = LAZ_LINK_ON_END, .reason = LAZ_LINK_DRAINED};

    if (sim.workers[index].port && sim.workers[index].generation == generation)
        worker_each(index, &event);
}

void sim_worker_drain(uint32_t index)
{
    struct sim_worker *worker = &sim.workers[index];

    if (!worker->port || worker->drains || worker->is_paused)
        return;
    worker->drains = true;
    laz_places_drain(worker->places);
    sim_after(worker->port, GRACE_US, worker_ends, index, worker->generation);
    sim_after(NULL, GRACE_US + LATE_US, worker_drained, index, worker->generation);
    places_pump(index);
}
