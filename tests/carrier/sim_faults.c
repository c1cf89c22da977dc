/* SPDX-License-Identifier: MIT */
/* sim_faults.c - what goes wrong in the simulation: machines, the bus, the way, and an attacker. */
#include "sim.h"

#include <string.h>

enum faults {
    KILL_WORKER,
    LOSE_WORKER,
    KILL_CALLER,
    LOSE_CALLER,
    CUT_WORKER,
    CUT_CALLER,
    PAUSE_WORKER,
    STOP_BUS
};

#define LOST_MOST 4096

static struct {
    uint64_t until_us, every_us, attack_us;
    struct {
        struct bus_port *port;
    } lost[LOST_MOST];
    uint32_t drained;
} faults;

/* How long something is wrong: from below the time between two beats to above the lease. */
static uint64_t faults_duration(void)
{
    return SIM_SECOND / 2 + sim_random(sim_random(2) ? 4 * SIM_SECOND : 35 * SIM_SECOND);
}

/* ---- machines that are gone without a word ----------------------------------------------------
 */

static void faults_noticed(uint32_t i, uint32_t generation)
{
    (void)generation;
    bus_port_free(faults.lost[i].port);
    faults.lost[i].port = NULL;
}

void sim_vanish(struct bus_port *port)
{
    uint32_t i = 0;

    while (i < LOST_MOST - 1 && faults.lost[i].port)
        i++;
    bus_port_cut(port, true, true);
    if (faults.lost[i].port)
        return; /* the bus never notices */
    faults.lost[i].port = port;
    sim_after(NULL, 40 * SIM_SECOND, faults_noticed, i, 0);
}

/* ---- what ends by itself ----------------------------------------------------------------------
 */

static void worker_heals(uint32_t index, uint32_t generation)
{
    struct sim_worker *worker = &sim.workers[index];

    if (!worker->port || worker->generation != generation)
        return;
    bus_port_cut(worker->port, false, false);
    if (!worker->is_paused)
        return;
    worker->is_paused = false;
    worker->paused_us = sim_us();
    bus_port_pause(worker->port, false);
}

static void caller_heals(uint32_t index, uint32_t generation)
{
    (void)generation;
    if (sim.callers[index].port)
        bus_port_cut(sim.callers[index].port, false, false);
}

static void caller_again(uint32_t index, uint32_t generation)
{
    (void)generation;
    if (!sim.callers[index].port)
        sim_caller_begin(index);
}

static void worker_is_back(uint32_t index, uint32_t generation)
{
    (void)generation;
    if (sim.workers[index].port)
        bus_port_connect(sim.workers[index].port, true);
}

static void caller_is_back(uint32_t index, uint32_t generation)
{
    (void)generation;
    if (sim.callers[index].port)
        bus_port_connect(sim.callers[index].port, true);
}

/* All lose their connection, and have it again at different times. */
static void faults_bus(void)
{
    const uint64_t down = SIM_SECOND / 5 + sim_random(2 * SIM_SECOND);

    for (uint32_t i = 0; i < sim.options.workers; i++) {
        if (sim.workers[i].port)
            bus_port_connect(sim.workers[i].port, false);
        sim_after(NULL, down + sim_random(SIM_SECOND), worker_is_back, i, 0);
    }
    for (uint32_t i = 0; i < sim.options.callers; i++) {
        if (sim.callers[i].port)
            bus_port_connect(sim.callers[i].port, false);
        sim_after(NULL, down + sim_random(SIM_SECOND), caller_is_back, i, 0);
    }
}

/* ---- failures of machines ---------------------------------------------------------------------
 */

static void faults_worker(enum faults fault, uint32_t index)
{
    struct sim_worker *worker = &sim.workers[index];
    const uint64_t ways = 1 + sim_random(3);

    if (!worker->port || worker->is_paused)
        return;
    switch (fault) {
    case KILL_WORKER:
    case LOSE_WORKER:
        sim_worker_kill(index, fault == LOSE_WORKER);
        return;
    case CUT_WORKER:
        bus_port_cut(worker->port, ways & 1, ways & 2);
        break;
    default:
        bus_port_pause(worker->port, true);
        worker->is_paused = true;
        worker->paused_us = UINT64_MAX / 2;
    }
    sim_after(NULL, faults_duration(), worker_heals, index, worker->generation);
}

static void faults_caller(enum faults fault, uint32_t index)
{
    struct sim_caller *caller = &sim.callers[index];
    const uint64_t ways = 1 + sim_random(3);

    if (!caller->port)
        return;
    if (fault == CUT_CALLER) {
        bus_port_cut(caller->port, ways & 1, ways & 2);
        sim_after(NULL, faults_duration(), caller_heals, index, 0);
        return;
    }
    sim_caller_kill(index, fault == LOSE_CALLER);
    sim_after(NULL, 2 * SIM_SECOND, caller_again, index, 0);
}

static void faults_one(uint32_t slot, uint32_t generation)
{
    /* The bus itself stops less often than machines do. */
    const enum faults fault = sim_random(40) || sim.failures[STOP_BUS] >= 3
                                  ? (enum faults)sim_random(STOP_BUS)
                                  : STOP_BUS;

    if (sim_us() > faults.until_us)
        return;
    sim.failures[fault]++;
    if (fault == STOP_BUS) {
        faults_bus();
    } else if (fault == KILL_CALLER || fault == LOSE_CALLER || fault == CUT_CALLER) {
        faults_caller(fault, (uint32_t)sim_random(sim.options.callers));
    } else {
        faults_worker(fault, (uint32_t)sim_random(sim.options.workers));
    }
    sim_after(NULL, faults.every_us, faults_one, slot, generation);
}

/* Workers are renewed one after the other. */
static void faults_drain(uint32_t slot, uint32_t generation)
{
    if (faults.drained >= sim.options.drains || sim_us() > faults.until_us)
        return;
    sim_worker_drain(faults.drained++ % sim.options.workers);
    sim_after(NULL, faults.until_us / 2 / (sim.options.drains + 1) + 1, faults_drain, slot,
              generation);
}

static void faults_way(uint32_t slot, uint32_t generation)
{
    const struct bus_faults way = {
        .seed = 0,
        .drop = sim.options.drop,
        .duplicate = sim.options.duplicate,
        .reorder = sim.options.reorder,
        .delay_us = 150,
        .jitter_us = 100,
    };

    (void)slot;
    (void)generation;
    bus_set_faults(sim.bus, &way);
}

/* ---- the attacker -----------------------------------------------------------------------------
 */

/* A link of a worker, and a session of a caller, chosen at random; SIM_NONE: that one is free. */
static uint32_t faults_link(void)
{
    const uint32_t slot = (uint32_t)sim_random(sim.n_links);

    return sim.links[slot].is_used ? slot : SIM_NONE;
}

static void attack_with_noise(const struct sim_link *link)
{
    char subject[LAZ_SUBJECT_SIZE], noise[64];

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)sim_random(256);
    laz_subject_link(subject, link->link.id);
    bus_send(sim.attacker, subject, NULL, noise, sizeof noise);
}

/* Frames for a caller, of a link that it does not have: one that would end it, and one with a line.
 */
static void attack_caller(const struct sim_link *link)
{
    char subject[LAZ_SUBJECT_SIZE], id[LAZ_CARRIER_ID + 1];
    struct laz_carrier_frame frame = {
        .kind = sim_random(2) ? LAZ_CARRIER_END : LAZ_CARRIER_LINE,
        .link = id,
        .link_len = LAZ_CARRIER_ID,
        .reason = "closed",
        .reason_len = 6,
        .parts = 1,
        .data = "R 0 0 0 ",
        .len = 8,
    };

    frame.len = frame.kind == LAZ_CARRIER_LINE ? 8 : 0;
    sim_id(id, (uint32_t)sim_random(1000), (uint32_t)sim_random(1000));
    laz_subject_inbox(subject, link->caller, link->open);
    sim_send(sim.attacker, subject, NULL, &frame);
}

/* What only who knows the link can send: it ends that link. */
static void attack_from_inside(const struct sim_link *link)
{
    char subject[LAZ_SUBJECT_SIZE];
    const struct laz_carrier_frame frame = {
        .kind = LAZ_CARRIER_LINE,
        .link = link->link.id,
        .link_len = LAZ_CARRIER_ID,
        .number = (int64_t)(1000000 + sim_random(1000)),
        .parts = 1,
        .data = "X 0 0 0 ",
        .len = 8,
    };

    laz_subject_link(subject, link->link.id);
    sim_send(sim.attacker, subject, NULL, &frame);
}

static void faults_attack(uint32_t slot, uint32_t generation)
{
    const uint32_t target = faults_link();
    const uint64_t what = sim_random(1000);
    const uint64_t i = sim_random(64);

    if (sim_us() > faults.until_us)
        return;
    if (what < 500 && sim.seen[i].bytes)
        bus_send(sim.attacker, sim.seen[i].subject, NULL, sim.seen[i].bytes, sim.seen[i].len);
    else if (target == SIM_NONE)
        ;
    else if (what < 740)
        attack_with_noise(&sim.links[target]);
    else if (what < 990)
        attack_caller(&sim.links[target]);
    else
        attack_from_inside(&sim.links[target]);
    sim_after(NULL, faults.attack_us, faults_attack, slot, generation);
}

void sim_faults_begin(uint64_t until_us)
{
    static const struct bus_calls calls = {.connected = NULL};

    memset(&faults, 0, sizeof faults);
    faults.until_us = until_us;
    sim.attacker = bus_port_new(sim.bus, &calls, NULL);
    sim_after(NULL, until_us / 2, faults_way, 0, 0);
    if (sim.options.failures) {
        faults.every_us = until_us / (sim.options.failures + 1) + 1;
        sim_after(NULL, faults.every_us, faults_one, 0, 0);
    }
    if (sim.options.attacks_per_second) {
        faults.attack_us = SIM_SECOND / sim.options.attacks_per_second;
        sim_after(NULL, SIM_SECOND, faults_attack, 0, 0);
    }
    if (sim.options.drains)
        sim_after(NULL, until_us / 2, faults_drain, 0, 0);
}
