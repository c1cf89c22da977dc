/* SPDX-License-Identifier: MIT */
/* sim.c - a simulation of many machines: sessions come, machines fail, and what must hold is
 * checked.
 *
 *     carrier-sim [--workers N] [--sessions N] [--seed N] ...
 *
 * Exit status 0: every invariant held; 1: the first ones that did not are printed.  They are: each
 * execution that was sent ends once for its caller, and runs once at most; a result that a caller
 * takes is of an execution that ran; lines come whole and in order; nothing is left on a worker
 * later than the lease after its caller is gone; each session has one outcome; a link holds no more
 * than a line and a window; a place is given once, and places are those of the links; a worker that
 * drains leaves. docs/design-scale.md has what it prints. */
#include "sim.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct sim sim;

/* Small ones, a sixteenth and less of the real ones, so that many reach them. */
const struct laz_link_limits sim_limits = {
    .part = 16 << 10,
    .window = 64 << 10,
    .max_line = SIM_LINE_MOST,
    .most = 1 << 20,
    .keepalive_ms = LAZ_LINK_KEEPALIVE_MS,
    .lease_ms = LAZ_LINK_LEASE_MS,
};

/* ---- time, chance -----------------------------------------------------------------------------
 */

uint64_t sim_us(void)
{
    return bus_now(sim.bus);
}

uint64_t sim_ms(void)
{
    return sim_us() / 1000;
}

uint64_t sim_random(uint64_t below)
{
    const uint64_t bits = bus_random(sim.bus);

    return below ? bits % below : bits;
}

void sim_wrong(const char *format, ...)
{
    va_list args;

    if (++sim.n_wrong > 10)
        return;
    printf("WRONG at %.3f s: ", (double)sim_us() / 1e6);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

static void id_bytes(unsigned char *at, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(number >> (24 - 8 * i));
}

void sim_id(char id[LAZ_CARRIER_ID + 1], uint32_t slot, uint32_t generation)
{
    unsigned char bytes[16];

    id_bytes(bytes, (uint32_t)sim_random(0));
    id_bytes(bytes + 4, (uint32_t)sim_random(0));
    id_bytes(bytes + 8, slot);
    id_bytes(bytes + 12, generation);
    laz_carrier_id(id, bytes);
}

uint32_t sim_id_slot(const char *id)
{
    char digits[9] = "";

    memcpy(digits, id + 16, 8);
    return (uint32_t)strtoul(digits, NULL, 16);
}

/* A timer is a number: which function, the slot and its generation. So none is to be freed when the
 * connection that it belongs to goes. */
#define TIMER_FUNCTIONS 32
#define TIMER_SLOTS     27

static sim_due timer_functions[TIMER_FUNCTIONS];

static void timer_due(void *user)
{
    const uint64_t timer = (uint64_t)(uintptr_t)user;

    timer_functions[timer >> 59]((uint32_t)(timer >> 32) & ((1u << TIMER_SLOTS) - 1),
                                 (uint32_t)timer);
}

void sim_after(struct bus_port *port, uint64_t us, sim_due due, uint32_t slot, uint32_t generation)
{
    uint64_t function = 0;

    while (function < TIMER_FUNCTIONS - 1 && timer_functions[function] &&
           timer_functions[function] != due)
        function++;
    if (timer_functions[function] && timer_functions[function] != due)
        abort();
    timer_functions[function] = due;
    if (us > UINT64_MAX / 2) /* is due already */
        us = 0;
    if (!bus_at(sim.bus, port, sim_us() + us, timer_due,
                (void *)(uintptr_t)(function << 59 | (uint64_t)slot << 32 | generation)))
        abort();
}

/* ---- frames and lines -------------------------------------------------------------------------
 */

void sim_send(struct bus_port *port, const char *subject, const char *reply,
              const struct laz_carrier_frame *frame)
{
    struct laz_buf *bytes = &sim.bytes;

    laz_buf_clear(bytes);
    laz_carrier_make(frame, bytes);
    if (bytes->failed || !bus_send(port, subject, reply, bytes->data, bytes->len))
        abort();
    if (port == sim.attacker || sim_random(100))
        return;
    const size_t i = sim.n_seen++ % 64;
    free(sim.seen[i].bytes);
    sim.seen[i].bytes = malloc(bytes->len);
    if (!sim.seen[i].bytes)
        abort();
    memcpy(sim.seen[i].bytes, bytes->data, bytes->len);
    sim.seen[i].len = bytes->len;
    snprintf(sim.seen[i].subject, sizeof sim.seen[i].subject, "%s", subject);
}

size_t sim_line(char *line, size_t size, char letter, uint32_t number, uint64_t execution,
                uint32_t more)
{
    const int len = snprintf(line, SIM_LINE_MOST, "%c %u %llu %u ", letter, number,
                             (unsigned long long)execution, more);

    if (size <= (size_t)len)
        return (size_t)len;
    memset(line + len, letter, size - (size_t)len);
    return size;
}

bool sim_read(const char *line, size_t len, struct sim_said *said)
{
    char head[80] = "";
    int end = 0;

    memcpy(head, line, len < sizeof head ? len : sizeof head - 1);
    if (sscanf(head, "%c %u %llu %u %n", &said->letter, &said->number, &said->execution,
               &said->more, &end) != 4)
        return false;
    for (size_t i = (size_t)end; i < len; i++)
        if (line[i] != said->letter)
            return false;
    return true;
}

/* ---- what is counted --------------------------------------------------------------------------
 */

/* Buckets that are 1/16 wider than the one before, in whole microseconds. */
void sim_observe(struct sim_histogram *histogram, uint64_t us)
{
    uint64_t scaled = us;
    unsigned shift = 0;

    while (scaled >= 32) {
        scaled >>= 1;
        shift++;
    }
    const uint64_t at = shift ? 16 + (uint64_t)shift * 16 + (scaled - 16) - 0 : scaled;
    histogram->at[at < SIM_BUCKETS ? at : SIM_BUCKETS - 1]++;
    histogram->n++;
    if (us > histogram->most)
        histogram->most = us;
}

static uint64_t bucket_value(uint64_t at)
{
    return at < 32 ? at : (16 + at % 16) << (at / 16 - 1);
}

static uint64_t sim_percentile(const struct sim_histogram *histogram, unsigned per_mille)
{
    const uint64_t wanted = histogram->n * per_mille / 1000;
    uint64_t sum = 0;

    for (uint64_t at = 0; at < SIM_BUCKETS; at++) {
        sum += histogram->at[at];
        if (sum > wanted)
            return bucket_value(at);
    }
    return histogram->most;
}

void sim_look(const struct laz_link *link)
{
    const size_t held = laz_link_held(link), waiting = laz_link_waiting(link);

    if (held > sim.most_held)
        sim.most_held = held;
    if (waiting > sim.most_waiting)
        sim.most_waiting = waiting;
    if (held > sim_limits.max_line + sim_limits.window)
        sim_wrong("a link holds %zu bytes", held);
    if (waiting > sim_limits.most)
        sim_wrong("%zu bytes wait for credit", waiting);
}

void sim_over(uint32_t index, enum sim_outcome outcome, enum laz_link_reason reason)
{
    struct sim_session *session = &sim.sessions[index];

    if (session->outcome != SIM_OPEN)
        sim_wrong("session %u has ended twice", index);
    if (reason != LAZ_LINK_NONE)
        sim.live--;
    session->outcome = (uint8_t)outcome;
    session->reason = (uint8_t)reason;
    session->ended_us = sim_us();
    sim.outcomes[outcome]++;
    sim.reasons[reason]++;
    sim.n_over++;
    sim.last_us = sim_us();
}

/* ---- the run ----------------------------------------------------------------------------------
 */

/* Sessions come evenly, so that `load` percent of the places are used. */
#define SESSION_MS 7200 /* how long one takes on average */

static uint64_t sim_every_us(void)
{
    const double places = (double)sim.options.workers * sim.options.places;

    return (uint64_t)(SESSION_MS * 1000.0 * 100.0 / (places * sim.options.load)) + 1;
}

static void sim_arrives(uint32_t index, uint32_t generation)
{
    sim_session_begin(index);
    sim.n_arrived++;
    if (index + 1 < sim.options.sessions)
        sim_after(NULL, sim_random(2 * sim_every_us()), sim_arrives, index + 1, generation);
}

static void *sim_array(size_t n, size_t size)
{
    void *array = calloc(n ? n : 1, size);

    if (!array)
        abort();
    return array;
}

static void sim_begin(void)
{
    const struct bus_faults way = {.seed = sim.options.seed, .delay_us = 150, .jitter_us = 100};
    const uint32_t places = sim.options.workers * sim.options.places;

    sim.bus = bus_new(&way);
    sim.n_sides = places * 2 + 10000;
    sim.n_links = places + 1000;
    sim.sessions = sim_array(sim.options.sessions, sizeof *sim.sessions);
    sim.workers = sim_array(sim.options.workers, sizeof *sim.workers);
    sim.callers = sim_array(sim.options.callers, sizeof *sim.callers);
    sim.sides = sim_array(sim.n_sides, sizeof *sim.sides);
    sim.links = sim_array(sim.n_links, sizeof *sim.links);
    sim.free_side = sim.free_link = SIM_NONE;
    for (uint32_t i = sim.n_sides; i-- > 0; sim.free_side = i)
        sim.sides[i].next = sim.free_side;
    for (uint32_t i = sim.n_links; i-- > 0; sim.free_link = i)
        sim.links[i].next = sim.free_link;
    for (uint32_t i = 0; i < sim.options.workers; i++)
        sim_worker_begin(i);
    for (uint32_t i = 0; i < sim.options.callers; i++)
        sim_caller_begin(i);
    for (uint32_t i = 0; i < sim.options.sessions; i++)
        sim.sessions[i].caller = (uint32_t)sim_random(sim.options.callers);
    sim_faults_begin(sim_every_us() * sim.options.sessions);
    sim_after(NULL, SIM_SECOND / 10, sim_arrives, 0, 0);
}

/* All sessions have ended; then what is left has a lease to go. */
static void sim_run(void)
{
    const uint64_t most = sim_every_us() * sim.options.sessions + 3600 * SIM_SECOND;
    struct bus_event *event;

    while (sim.n_over < sim.options.sessions && (event = bus_next(sim.bus, most))) {
        bus_run(event);
        bus_done(sim.bus, event);
    }
    /* The longest pause, the lease, and a second. */
    const uint64_t last =
        sim_us() + 36 * SIM_SECOND + (uint64_t)sim_limits.lease_ms * 1000 + 2 * SIM_SECOND;
    while ((event = bus_next(sim.bus, last))) {
        bus_run(event);
        bus_done(sim.bus, event);
    }
}

static void sim_check(void)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < sim.options.sessions; i++) {
        const struct sim_session *session = &sim.sessions[i];
        if (session->outcome == SIM_OPEN)
            sim_wrong("session %u has no outcome", i);
        for (uint8_t k = 0; k < session->n_started; k++)
            if (session->ended[k] != 1 && session->outcome != SIM_DEAD)
                sim_wrong("execution %u of session %u has not ended", k, i);
    }
    for (uint32_t i = 0; i < sim.n_links; i++)
        left += sim.links[i].is_used;
    if (left)
        sim_wrong("%u links are left on workers", left);
    for (uint32_t i = 0; i < sim.options.callers; i++)
        if (sim.callers[i].queue.n && sim.callers[i].port && sim.callers[i].sides == SIM_NONE &&
            !sim.callers[i].dead_us)
            sim_wrong("caller %u has openings in its queue that nobody waits for", i);
}

static void sim_end(void)
{
    for (uint32_t i = 0; i < sim.options.workers; i++)
        laz_places_free(sim.workers[i].places);
    for (uint32_t i = 0; i < sim.n_links; i++)
        if (sim.links[i].is_used)
            laz_link_fini(&sim.links[i].link);
    for (uint32_t i = 0; i < sim.n_sides; i++) {
        if (!sim.sides[i].is_used)
            continue;
        laz_requests_fini(&sim.sides[i].requests);
        if (sim.sides[i].is_linked)
            laz_link_fini(&sim.sides[i].link);
    }
    for (size_t i = 0; i < 64; i++)
        free(sim.seen[i].bytes);
    bus_free(sim.bus);
    laz_buf_fini(&sim.bytes);
    free(sim.sessions);
    free(sim.workers);
    free(sim.callers);
    free(sim.sides);
    free(sim.links);
}

/* ---- what it prints ---------------------------------------------------------------------------
 */

static void sim_print_latency(const char *what, const struct sim_histogram *histogram)
{
    printf("%-34s %9llu  p50 %7.3f  p99 %8.3f  most %9.3f ms\n", what,
           (unsigned long long)histogram->n, (double)sim_percentile(histogram, 500) / 1e3,
           (double)sim_percentile(histogram, 990) / 1e3, (double)histogram->most / 1e3);
}

static void sim_print_balance(void)
{
    uint64_t sum = 0, most = 0;

    for (uint32_t i = 0; i < sim.options.workers; i++) {
        sum += sim.workers[i].given;
        if (sim.workers[i].given > most)
            most = sim.workers[i].given;
    }
    printf("sessions of a worker: mean %.1f, most %llu: %.2f times the mean\n",
           (double)sum / sim.options.workers, (unsigned long long)most,
           sum ? (double)most * sim.options.workers / (double)sum : 0.0);
}

static void sim_print(double cpu)
{
    static const char *const faults[] = {
        "worker killed",  "worker's machine gone", "caller killed", "caller's machine gone",
        "worker cut off", "caller cut off",        "worker paused", "bus restarted"};
    const struct bus_counts counts = bus_counts(sim.bus);
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("seed %llu: %u workers of %u places, %u callers, %u sessions, %.1f s\n",
           (unsigned long long)sim.options.seed, sim.options.workers, sim.options.places,
           sim.options.callers, sim.options.sessions, (double)sim.last_us / 1e6);
    printf(
        "sessions: %llu done, %llu lost and told so, %llu without a place, %llu with their caller; "
        "%llu at a time\n",
        (unsigned long long)sim.outcomes[SIM_DONE], (unsigned long long)sim.outcomes[SIM_LOST],
        (unsigned long long)sim.outcomes[SIM_FAILED], (unsigned long long)sim.outcomes[SIM_DEAD],
        (unsigned long long)sim.most_live);
    printf("lost:");
    for (int i = LAZ_LINK_WORKER_LOST; i < LAZ_LINK_REASONS; i++)
        if (sim.reasons[i])
            printf(" %s %llu", laz_link_reason_word((enum laz_link_reason)i),
                   (unsigned long long)sim.reasons[i]);
    printf("\nexecutions: %llu sent, %llu results, %llu worker_lost\n",
           (unsigned long long)sim.n_executions, (unsigned long long)sim.n_results,
           (unsigned long long)sim.n_worker_lost);
    printf("openings: %llu came again, %llu refused, %llu answers too many, %llu frames of links "
           "that nobody has; nobody there: %llu\n",
           (unsigned long long)sim.n_again, (unsigned long long)sim.n_refused,
           (unsigned long long)sim.n_superfluous, (unsigned long long)sim.n_strays,
           (unsigned long long)sim.n_nobody);
    printf("failures:");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        printf("%s %s %llu", i ? "," : "", faults[i], (unsigned long long)sim.failures[i]);
    printf("; drained: %llu\n", (unsigned long long)sim.n_drained);
    sim_print_latency("open, until hello", &sim.opened);
    sim_print_latency("execute, beside the work", &sim.executed);
    sim_print_latency("call of a tool", &sim.called);
    sim_print_latency("on the worker after its end", &sim.orphaned);
    sim_print_balance();
    printf("messages of a session: %.1f, %.0f bytes; lost on the way: %llu\n",
           (double)counts.sent / sim.options.sessions, (double)counts.bytes / sim.options.sessions,
           (unsigned long long)counts.lost);
    printf("a link held %zu bytes at most, and had %zu waiting\n", sim.most_held, sim.most_waiting);
    printf("%.1f s of CPU, %.0f MiB\n", cpu, (double)usage.ru_maxrss / 1024);
}

static bool sim_option(const char *name, const char *value)
{
    const struct {
        const char *name;
        uint32_t *value;
    } numbers[] = {
        {"workers", &sim.options.workers},
        {"callers", &sim.options.callers},
        {"sessions", &sim.options.sessions},
        {"places", &sim.options.places},
        {"failures", &sim.options.failures},
        {"drop", &sim.options.drop},
        {"duplicate", &sim.options.duplicate},
        {"reorder", &sim.options.reorder},
        {"load", &sim.options.load},
        {"drains", &sim.options.drains},
        {"attacks", &sim.options.attacks_per_second},
    };

    if (strcmp(name, "seed") == 0)
        sim.options.seed = strtoull(value, NULL, 10);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(name, numbers[i].name) != 0)
            continue;
        *numbers[i].value = (uint32_t)strtoul(value, NULL, 10);
        return true;
    }
    return strcmp(name, "seed") == 0;
}

/* Also with sanitizers, as many as all that fails needs to come about. */
#ifdef LAZ_SANITIZE
#define SIM_SESSIONS 3000
#else
#define SIM_SESSIONS 10000
#endif

int main(int argc, char **argv)
{
    const char *seed = getenv("LAZARET_TEST_SEED");
    const clock_t begun = clock();

    sim.options = (struct sim_options){.seed = seed ? strtoull(seed, NULL, 10) : 1,
                                       .workers = 100,
                                       .sessions = SIM_SESSIONS,
                                       .places = 16,
                                       .failures = 60,
                                       .drop = 1,
                                       .duplicate = 10,
                                       .reorder = 1,
                                       .attacks_per_second = 100,
                                       .drains = 20,
                                       .load = 70};
    for (int i = 1; i + 1 < argc + 1; i += 2) {
        if (i + 1 < argc && strncmp(argv[i], "--", 2) == 0 && sim_option(argv[i] + 2, argv[i + 1]))
            continue;
        fprintf(stderr, "usage: carrier-sim [--seed N] [--workers N] [--callers N] [--sessions N] "
                        "[--places N] [--load PERCENT] [--failures N] [--drains N] [--attacks N] "
                        "[--drop N] [--duplicate N] [--reorder N]\n");
        return 2;
    }
    if (!sim.options.callers)
        sim.options.callers = sim.options.workers / 4 + 2;
    sim_begin();
    sim_run();
    sim_check();
    sim_print((double)(clock() - begun) / CLOCKS_PER_SEC);
    if (sim.n_wrong)
        printf("%llu invariants did not hold\n", (unsigned long long)sim.n_wrong);
    const int status = sim.n_wrong ? 1 : 0;
    sim_end();
    return status;
}
