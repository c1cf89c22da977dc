/* SPDX-License-Identifier: MIT */
/* soak.c - uses the library at random for a given time: lazaret-soak SECONDS [SEED]
 *
 * Players open sessions, execute, restart and close; code in them is quick, wrong, endless, floods,
 * allocates too much or exits; a villain thread kills processes, also of templates, and cancels at
 * any moment; a crew uses a group of engines. Every few seconds all players pause with their
 * sessions closed: only templates may be left then, and descriptors and memory must be as in the
 * first pause. Every execution must end with exactly one result, the expected one unless it was
 * disturbed. The seed is printed and can be given; scheduling adds more randomness. */
#include "soak.h"
#include "../session/traces.h"

#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#define N_PLAYERS      4
#define N_OTHERS       2
#define ROUND_S        3
#define SETTLE_FIRST_S 2
#define SETTLE_MS      50
#define SETTLE_TURNS   4
#define WARM_UP        1 /* rounds after which memory should not grow any more */

/* Seconds that a pause may take, and bytes by which memory may grow from the first pause to the
 * last, however long the run. */
#ifdef LAZ_SANITIZE
#define SETTLE_S 120
#define GROWTH   ((long)1 << 40) /* the sanitizer keeps freed memory for a while */
#else
#define SETTLE_S 60 /* a template of R may have to start while the disk is busy */
#define GROWTH   ((long)4 << 20)
#endif

static pthread_barrier_t round_begins, round_ends;

void soak_wrong(struct soak *soak, const char *format, ...)
{
    va_list args;

    flockfile(stderr);
    fprintf(stderr, "soak: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    funlockfile(stderr);
    atomic_fetch_add(&soak->counts.wrong, 1);
}

/* Private memory of this process (proc(5), smaps_rollup), after malloc has returned its free
 * memory. */
static long soak_memory(void)
{
    FILE *file;
    char line[256];
    long kib = 0;

    malloc_trim(0);
    file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "Anonymous:", 10) == 0)
            kib = strtol(line + 10, NULL, 10);
    if (file)
        fclose(file);
    return kib * 1024;
}

struct picture {
    int descriptors, threads, children;
    long memory;
};

static struct picture picture_take(void)
{
    return (struct picture){
        .descriptors = trace_descriptors(),
        .threads = trace_threads(),
        .children = trace_children(),
        .memory = soak_memory(),
    };
}

static void *player_main(void *arg)
{
    struct soak_player *player = arg;

    for (;;) {
        pthread_barrier_wait(&round_begins);
        if (atomic_load(&player->soak->phase) == SOAK_END)
            return NULL;
        player->number % 2 ? soak_play_async(player) : soak_play(player);
        pthread_barrier_wait(&round_ends);
    }
}

/* A thread that is not a player: the villain, or the crew with a group of engines. */
struct other {
    struct soak *soak;
    struct soak_dice dice;
    void (*act)(struct soak *soak, struct soak_dice *dice);
};

static void *other_main(void *arg)
{
    struct other *other = arg;

    for (;;) {
        pthread_barrier_wait(&round_begins);
        if (atomic_load(&other->soak->phase) == SOAK_END)
            return NULL;
        other->act(other->soak, &other->dice);
        pthread_barrier_wait(&round_ends);
    }
}

/* Lists the descriptors, to help find a leaked one. */
static void soak_list_descriptors(void)
{
    for (int fd = 0; fd < 256; fd++) {
        char path[64], target[256];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n > 0)
            fprintf(stderr, "    %d %.*s\n", fd, (int)n, target);
    }
}

/* Number of templates: one for each runtime and engine, if sessions come from templates here. */
static int soak_templates(const struct soak *soak)
{
    int runtimes = 0;

    for (unsigned i = 0; i < soak->n_runtimes; i++)
        runtimes += i == 0 || strcmp(soak->runtimes[i], soak->runtimes[i - 1]) != 0;
    return trace_children() > 0 ? runtimes * (int)soak->n_players : 0;
}

/* Compares with the first pause after the warm-up. Threads are not compared exactly, because
 * workers come and go. */
static void soak_compare(struct soak *soak, const struct picture *first, const struct picture *now)
{
    if (now->children != soak_templates(soak))
        soak_wrong(soak, "%d processes, in place of %d templates", now->children,
                   soak_templates(soak));
    if (first->descriptors && now->descriptors > first->descriptors) {
        soak_wrong(soak, "descriptors: %d became %d", first->descriptors, now->descriptors);
        soak_list_descriptors();
    }
    if (first->memory && now->memory > first->memory + GROWTH)
        soak_wrong(soak, "memory: %ld bytes became %ld", first->memory, now->memory);
}

static void soak_say(const struct soak *soak, long seconds, const struct picture *now)
{
    fprintf(stderr,
            "%s%5ld s: %lu executions (%lu disturbed), %lu sessions, %lu tool calls, %lu kills, "
            "%lu shakes, %lu cancels; %d descriptors, %d threads, %d children, %.2f MiB%s",
            isatty(STDERR_FILENO) ? "\r\033[K" : "", seconds, atomic_load(&soak->counts.executions),
            atomic_load(&soak->counts.disturbed), atomic_load(&soak->counts.sessions),
            atomic_load(&soak->counts.calls), atomic_load(&soak->counts.kills),
            atomic_load(&soak->counts.shakes), atomic_load(&soak->counts.cancels), now->descriptors,
            now->threads, now->children, (double)now->memory / 1048576,
            isatty(STDERR_FILENO) ? "" : "\n");
}

/* Waits until all templates run and the boxes of replaced sessions have ended, which they do while
 * their engine is driven: descriptors are then as in the first pause. Opens sessions only now and
 * then, because a missing or superfluous template takes a moment to start or end, and each session
 * brings the next renewal of a template nearer. */
static void soak_settle(struct soak *soak, const struct picture *first)
{
    struct laz_error err = {0};
    time_t began = time(NULL);
    bool settled = false;

    for (int turn = 0; !settled && time(NULL) - began < SETTLE_S; turn++) {
        if (turn == 0 || (turn % SETTLE_TURNS == 0 && trace_children() != soak_templates(soak)))
            for (unsigned i = 0; i < soak->n_players; i++)
                soak_use_templates(&soak->players[i]);
        for (unsigned i = 0; i < soak->n_players; i++)
            if (laz_engine_step(soak->players[i].engine, SETTLE_MS, &err))
                soak_wrong(soak, "at rest: %s", err.text);
        settled = trace_children() == soak_templates(soak) &&
                  (first->descriptors ? trace_descriptors() <= first->descriptors
                                      : time(NULL) - began >= SETTLE_FIRST_S);
    }
}

/* Plays rounds until the time is over, with a pause after each. */
static void soak_rounds(struct soak *soak, long seconds)
{
    struct timespec round = {ROUND_S, 0};
    struct picture first = {0}, now;
    time_t began = time(NULL);

    for (long n = 0; n <= WARM_UP + 1 || time(NULL) - began < seconds; n++) {
        atomic_store(&soak->phase, SOAK_PLAY);
        pthread_barrier_wait(&round_begins);
        nanosleep(&round, NULL); /* duration of a round */
        atomic_store(&soak->phase, SOAK_REST);
        pthread_barrier_wait(&round_ends);
        soak_settle(soak, &first);
        now = picture_take();
        soak_compare(soak, &first, &now);
        if (n == WARM_UP)
            first = now;
        if (now.descriptors < first.descriptors) /* boxes were still ending then */
            first.descriptors = now.descriptors;
        soak_say(soak, (long)(time(NULL) - began), &now);
    }
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr);
}

/* Finds the runtimes that are built; faster ones are chosen more often. */
static void soak_find_runtimes(struct soak *soak)
{
    static const char *const names[] = {"lua", "lua", "lua", "python", "python", "r"};
    struct laz_error err, last = {0};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct laz_session_options options = {.size = sizeof options, .runtime = names[i]};
        struct laz_session *session = NULL;
        int rc = laz_session_open(soak->players[0].engine, &options, &session, &err);
        if (rc == 0)
            soak->runtimes[soak->n_runtimes++] = names[i];
        else if (rc != LAZ_ENOENT)
            soak_wrong(soak, "%s: %s", names[i], err.text);
        else
            last = err;
        laz_session_free(session);
    }
    if (!soak->n_runtimes && last.text[0])
        soak_wrong(soak, "no runtime: %s", last.text);
}

static void soak_run(struct soak *soak, long seconds, uint64_t seed)
{
    struct other others[N_OTHERS] = {{soak, {seed}, soak_disturb}, {soak, {seed + 1}, soak_group}};
    pthread_t threads[N_PLAYERS + N_OTHERS];

    pthread_barrier_init(&round_begins, NULL, N_PLAYERS + N_OTHERS + 1);
    pthread_barrier_init(&round_ends, NULL, N_PLAYERS + N_OTHERS + 1);
    for (unsigned i = 0; i < N_PLAYERS + N_OTHERS; i++)
        if (i < N_PLAYERS ? pthread_create(&threads[i], NULL, player_main, &soak->players[i])
                          : pthread_create(&threads[i], NULL, other_main, &others[i - N_PLAYERS]))
            abort();
    soak_rounds(soak, seconds);
    atomic_store(&soak->phase, SOAK_END);
    pthread_barrier_wait(&round_begins);
    for (unsigned i = 0; i < N_PLAYERS + N_OTHERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&round_begins);
    pthread_barrier_destroy(&round_ends);
}

int main(int argc, char **argv)
{
    long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    struct soak soak = {.n_players = N_PLAYERS};
    struct picture before, after;
    struct laz_engine *engine = NULL;
    char directory[300];

    if (seconds < 1 || argc > 3) {
        fprintf(stderr, "usage: lazaret-soak SECONDS [SEED]\n");
        return 2;
    }
    laz_engine_new(NULL, NULL, &engine, NULL); /* lets libraries make what they keep */
    laz_engine_free(engine);
    before = picture_take();
    soak.players = calloc(N_PLAYERS, sizeof *soak.players);
    if (!soak.players)
        return 1;
    printf("soak: seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    for (unsigned i = 0; i < N_PLAYERS; i++)
        soak_player_init(&soak.players[i], &soak, i, seed);
    if (atomic_load(&soak.counts.wrong) == 0)
        soak_find_runtimes(&soak);
    if (soak.n_runtimes > 0 && atomic_load(&soak.counts.wrong) == 0)
        soak_run(&soak, seconds, seed);
    else
        soak_wrong(&soak, "nothing could be started");
    for (unsigned i = 0; i < N_PLAYERS; i++)
        soak_player_fini(&soak.players[i]);
    after = picture_take();
    trace_directory(directory, sizeof directory);
    if (after.children || after.threads != before.threads || *directory ||
        after.descriptors != before.descriptors) {
        soak_wrong(&soak, "left behind: %d processes, %d threads, %d descriptors, directory \"%s\"",
                   after.children, after.threads - before.threads,
                   after.descriptors - before.descriptors, directory);
        soak_list_descriptors();
    }
    free(soak.players);
    printf("soak: %lu times the number of a process to be killed was another one's already\n",
           atomic_load(&soak.counts.spared));
    printf("soak: %lu executions, %lu sessions, %lu wrong\n", atomic_load(&soak.counts.executions),
           atomic_load(&soak.counts.sessions), atomic_load(&soak.counts.wrong));
    return atomic_load(&soak.counts.wrong) != 0;
}
