/* SPDX-License-Identifier: MIT */
/* soak_disturb.c - the villain of the soak: kills and stops processes of sessions and of templates,
 * and cancels executions, at any moment. A process is opened as a pidfd and checked before it is
 * signalled, because its id may have been reused, perhaps by another session, whose end would then
 * be unexpected. */
#include "soak.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STOPPED_MS 100 /* how long a stopped process stays stopped */

/* A field of /proc/PID/stat, by its number in proc(5), above 3; 0: the process has ended. */
#define STAT_PARENT 4
#define STAT_BEGUN  22
static int64_t villain_stat(int64_t pid, int field)
{
    char path[64], text[1024] = "";
    int64_t value = 0;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (fgets(text, sizeof text, file)) {
        const char *at = strrchr(text, ')'); /* end of the name, which may contain any character */
        for (int i = 2; at && i < field; i++)
            at = strchr(at + 1, ' ');
        if (at)
            value = strtoll(at, NULL, 10);
    }
    fclose(file);
    return value;
}

int64_t soak_begun(int64_t pid)
{
    return villain_stat(pid, STAT_BEGUN);
}

/* Picks one of the children of a thread; 0: it has none. */
static int64_t villain_child_of(struct soak_dice *dice, const char *pid, const char *thread)
{
    char path[600], text[4096] = "";
    int64_t child = 0;
    int n = 0;

    snprintf(path, sizeof path, "/proc/%s/task/%s/children", pid, thread);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (fscanf(file, "%20s", text) == 1)
        if (soak_roll(dice, (uint32_t)++n) == 0)
            child = strtoll(text, NULL, 10);
    fclose(file);
    return child;
}

static int64_t villain_child(struct soak_dice *dice, int64_t pid)
{
    char name[24];

    snprintf(name, sizeof name, "%lld", (long long)pid);
    return villain_child_of(dice, name, name);
}

/* Picks one of the processes started by engines of this process: boxes of sessions or of
 * templates. */
static int64_t villain_box(struct soak_dice *dice)
{
    DIR *tasks = opendir("/proc/self/task");
    int64_t box = 0;
    int n = 0;

    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        int64_t child = villain_child_of(dice, "self", task->d_name);
        if (child && soak_roll(dice, (uint32_t)++n) == 0)
            box = child;
    }
    if (tasks)
        closedir(tasks);
    return box;
}

/* A process of a box, identified by its id and by its parent or its start time. */
struct villain_prey {
    int64_t pid, parent, begun;
};

static bool villain_knows(const struct villain_prey *prey)
{
    return prey->begun ? soak_begun(prey->pid) == prey->begun
                       : villain_stat(prey->pid, STAT_PARENT) == prey->parent;
}

/* Signals a process if it is still the same one. `resume`: continues a stopped one after a moment.
 */
static bool villain_signal(const struct villain_prey *prey, int signal, bool resume)
{
    static const struct timespec moment = {0, STOPPED_MS * 1000000L};
    int fd = prey->pid > 1 ? (int)syscall(SYS_pidfd_open, (pid_t)prey->pid, 0) : -1;
    bool done =
        fd >= 0 && villain_knows(prey) && syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) == 0;

    if (done && signal == SIGSTOP && resume) {
        nanosleep(&moment, NULL);
        (void)syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
    }
    if (fd >= 0)
        close(fd);
    return done;
}

/* Kills or stops the outermost process of a box, or a descendant at most that many levels below. */
static bool villain_strike(struct soak_dice *dice, struct villain_prey prey, uint32_t deepest,
                           bool resume)
{
    static const int signals[] = {SIGKILL, SIGKILL, SIGKILL, SIGTERM, SIGSEGV, SIGSTOP};

    for (uint32_t depth = soak_roll(dice, deepest + 1); depth > 0; depth--) {
        int64_t child = villain_child(dice, prey.pid);
        if (child == 0 || !villain_knows(&prey))
            break;
        prey = (struct villain_prey){.pid = child, .parent = prey.pid};
    }
    return villain_signal(&prey, signals[soak_roll(dice, sizeof signals / sizeof *signals)],
                          resume);
}

static void villain_kill(struct soak *soak, struct soak_dice *dice, struct soak_slot *slot)
{
    struct villain_prey prey = {.pid = atomic_load(&slot->pid)};

    prey.begun = atomic_load(&slot->begun);
    if (prey.pid == 0 || prey.begun == 0)
        return;
    atomic_fetch_add(&slot->disturbed, 1);
    if (soak_begun(prey.pid) && !villain_knows(&prey))
        atomic_fetch_add(&soak->counts.spared, 1);
    else if (villain_strike(dice, prey, 2, false))
        atomic_fetch_add(&soak->counts.kills, 1);
    atomic_store(&slot->struck_ms, soak_now_ms());
    atomic_fetch_add(&slot->disturbed, 1);
}

/* Disturbs any process of any box, perhaps of a template. The affected sessions are not known, so
 * it is brief: a starting process that stayed stopped would be waited for as long as a start may
 * take, and excuse any failure meanwhile. */
static void villain_shake(struct soak *soak, struct soak_dice *dice)
{
    struct villain_prey box = {.pid = villain_box(dice), .parent = getpid()};

    for (unsigned i = 0; i < soak->n_players; i++)
        atomic_fetch_add(&soak->players[i].disturbed, 1);
    atomic_store(&soak->shaken_ms, soak_now_ms());
    if (villain_strike(dice, box, 5, true))
        atomic_fetch_add(&soak->counts.shakes, 1);
    atomic_store(&soak->shaken_ms, soak_now_ms());
    for (unsigned i = 0; i < soak->n_players; i++)
        atomic_fetch_add(&soak->players[i].disturbed, 1);
}

void soak_disturb(struct soak *soak, struct soak_dice *dice)
{
    while (atomic_load(&soak->phase) == SOAK_PLAY) {
        struct soak_player *player = &soak->players[soak_roll(dice, soak->n_players)];
        struct timespec pause = {0, (long)(1 + soak_roll(dice, 120)) * 1000000L};
        nanosleep(&pause, NULL); /* interval between disturbances */
        if (soak_roll(dice, 60) == 0) {
            villain_shake(soak, dice);
            continue;
        }
        if (soak_roll(dice, 3) > 0) {
            villain_kill(soak, dice, &player->slots[soak_roll(dice, SOAK_SLOTS)]);
            continue;
        }
        atomic_fetch_add(&player->disturbed, 1);
        laz_engine_cancel(player->engine);
        atomic_fetch_add(&player->disturbed, 1);
        atomic_fetch_add(&soak->counts.cancels, 1);
    }
}
