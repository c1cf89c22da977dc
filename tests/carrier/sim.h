/* SPDX-License-Identifier: MIT */
/* sim.h - a simulation of callers and workers on many machines: what its files share.
 *
 * The links, places and openings are those of core/carrier, the network is that of the carrier
 * `local` (plugins/carrier/local/bus.h), and time is virtual.  What the host protocol says is
 * played: a line is a letter, a number of its own, the number of an execution, and bytes.
 * Everything follows from the seed. */
#ifndef TESTS_CARRIER_SIM_H
#define TESTS_CARRIER_SIM_H

#include "bus.h"
#include "carrier/carrier.h"
#include "carrier/places.h"

#include <stdio.h>

#define SIM_EXECUTIONS 4 /* of a session, at most */
#define SIM_NONE       UINT32_MAX
#define SIM_POOL       "pool"
#define SIM_SECOND     UINT64_C(1000000)

struct sim_options {
    uint64_t seed;
    uint32_t workers, callers, sessions, places; /* places of each worker */
    uint32_t failures;                           /* of machines, in all */
    uint32_t drop, duplicate, reorder;           /* per mille, in the second half */
    uint32_t attacks_per_second, drains;
    uint32_t load; /* percent of the places that are used on average */
    bool is_quiet;
};

/* ---- what happened: the ledger ----------------------------------------------------------------
 */

enum sim_outcome {
    SIM_OPEN,   /* it has not ended */
    SIM_DONE,   /* by its own wish */
    SIM_FAILED, /* no place */
    SIM_LOST,   /* the link has ended: its caller was told */
    SIM_DEAD,   /* with its caller */
    SIM_OUTCOMES,
};

struct sim_session {
    uint64_t ended_us; /* for its caller */
    uint32_t caller;
    uint8_t outcome, reason;
    uint8_t n_started;
    uint8_t ended[SIM_EXECUTIONS], ran[SIM_EXECUTIONS];
};

#define SIM_BUCKETS 512
struct sim_histogram {
    uint64_t n, at[SIM_BUCKETS];
    uint64_t most;
};

/* ---- the machines -----------------------------------------------------------------------------
 */

struct sim_worker {
    struct bus_port *port; /* NULL: it is not there */
    struct bus_sub *opens;
    struct laz_places *places;
    char name[24], boot[LAZ_CARRIER_ID + 1];
    uint32_t generation, n_links, given;
    bool drains, is_paused;
    uint64_t paused_us; /* until when it was, last */
    uint32_t links;     /* a list of its links, by slot */
};

struct sim_caller {
    struct bus_port *port;
    char name[24];
    struct laz_opening_queue queue;
    uint64_t dead_us;
    uint32_t sides; /* a list of its sessions, by slot */
};

/* A session at its caller. */
struct sim_side {
    uint32_t generation, session, caller, next, before;
    bool is_used, is_linked, is_greeted, is_slow, reads;
    struct laz_opening opening;
    struct laz_link link;
    struct laz_requests requests;
    uint32_t plan; /* random bits: what it does */
    uint8_t done;  /* executions that have ended */
    uint8_t n_executions;
    uint32_t n_in, n_out; /* lines */
    uint64_t begun_us, asked_us, work_us, opening_timer_us;
    bool has_link_timer;
    size_t unread;
};

/* A link at its worker, and the session behind it. */
enum sim_phase { SIM_IDLE, SIM_WORKING, SIM_CALLING, SIM_WRITING };
struct sim_link {
    uint32_t generation, worker, session, next, before;
    bool is_used, has_link_timer;
    uint8_t phase;
    struct laz_link link;
    struct laz_place_grant *grant;
    struct bus_sub *sub;
    char caller[24], open[LAZ_CARRIER_ID + 1];
    uint32_t n_in, n_out, run; /* lines; counts what timers are for */
    uint32_t tools, outputs;   /* to come */
    uint64_t execution, call_us, begun_us;
};

struct sim {
    struct sim_options options;
    struct bus *bus;
    struct sim_session *sessions;
    struct sim_worker *workers;
    struct sim_caller *callers;
    struct sim_side *sides;
    struct sim_link *links;
    uint32_t n_sides, n_links, free_side, free_link; /* free ones are lists by `next` */
    uint32_t n_arrived, n_over;
    struct bus_port *attacker;
    struct laz_buf bytes;
    struct {
        char *bytes, subject[LAZ_SUBJECT_SIZE];
        size_t len;
    } seen[64]; /* frames that are sent again */
    uint64_t n_seen, last_us, n_wrong;
    uint64_t outcomes[SIM_OUTCOMES], reasons[LAZ_LINK_REASONS], failures[8];
    uint64_t n_executions, n_results, n_worker_lost, n_superfluous, n_again, n_refused, n_nobody;
    uint64_t n_strays, n_drained, most_live, live;
    size_t most_held, most_waiting;
    struct sim_histogram opened, executed, called, orphaned;
};

extern struct sim sim;
extern const struct laz_link_limits sim_limits;

#define SIM_QUIET ((size_t)64 << 10)

/* ---- sim.c ------------------------------------------------------------------------------------
 */

uint64_t sim_random(uint64_t below);
uint64_t sim_ms(void); /* the time */
uint64_t sim_us(void);
void sim_wrong(const char *format, ...) LAZ_PRINTF(1, 2); /* an invariant does not hold */
/* An id of random bits, the slot and its generation. */
void sim_id(char id[LAZ_CARRIER_ID + 1], uint32_t slot, uint32_t generation);
uint32_t sim_id_slot(const char *id);
/* What a timer is for, and for whom. */
typedef void (*sim_due)(uint32_t slot, uint32_t generation);
void sim_after(struct bus_port *port, uint64_t us, sim_due due, uint32_t slot, uint32_t generation);
void sim_send(struct bus_port *port, const char *subject, const char *reply,
              const struct laz_carrier_frame *frame);
void sim_observe(struct sim_histogram *histogram, uint64_t us);
void sim_look(const struct laz_link *link); /* is it within its bounds? */

/* Makes a line: LETTER NUMBER EXECUTION and bytes up to `size`; reads one. */
size_t sim_line(char *line, size_t size, char letter, uint32_t number, uint64_t execution,
                uint32_t more);
struct sim_said {
    char letter;
    unsigned number, more;
    unsigned long long execution;
};
bool sim_read(const char *line, size_t len, struct sim_said *said);
#define SIM_LINE_MOST ((size_t)128 << 10)

/* ---- sim_caller.c, sim_worker.c, sim_faults.c --------------------------------------------------
 */

void sim_caller_begin(uint32_t caller);
/* Its process ends, and the bus sees that; `vanishes`: its machine is gone, and the bus does not.
 */
void sim_caller_kill(uint32_t caller, bool vanishes);
void sim_session_begin(uint32_t session);
void sim_worker_begin(uint32_t worker);
void sim_worker_kill(uint32_t worker, bool vanishes);
void sim_worker_drain(uint32_t worker);
void sim_faults_begin(uint64_t until_us);
void sim_vanish(struct bus_port *port); /* cut off for good; the bus notices after a while */
void sim_over(uint32_t session, enum sim_outcome outcome, enum laz_link_reason reason);

#endif
