/* SPDX-License-Identifier: MIT */
/* soak_disturb.c - the villain of the soak: kills processes of sessions and cancels executions, at
 * any moment.  A process is held by a descriptor and looked at before it is signalled: a number may
 * have become somebody else's. */
#include "soak.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Parent of a process; 0: it is gone. */
static int64_t villain_parent(int64_t pid)
{
    char path[64], text[1024] = "";
    int64_t parent = 0;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (fgets(text, sizeof text, file)) {
        const char *end = strrchr(text, ')'); /* of the name, which may have any character */
        if (end && strlen(end) > 4)
            parent = strtoll(end + 4, NULL, 10);
    }
    fclose(file);
    return parent;
}

/* First child of a process; 0: it has none. */
static int64_t villain_child(int64_t pid)
{
    char path[64], text[64] = "";

    snprintf(path, sizeof path, "/proc/%lld/task/%lld/children", (long long)pid, (long long)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (!fgets(text, sizeof text, file))
        *text = '\0';
    fclose(file);
    return strtoll(text, NULL, 10);
}

/* Signals a process if it still has this parent. */
static bool villain_signal(int64_t pid, int64_t parent, int signal)
{
    int fd = pid > 1 ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
    bool done = fd >= 0 && villain_parent(pid) == parent &&
                syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) == 0;

    if (fd >= 0)
        close(fd);
    return done;
}

/* Kills or stops the outermost process of a box, or one or two below it. */
static void villain_kill(struct soak *soak, struct soak_dice *dice, struct soak_slot *slot)
{
    static const int signals[] = {SIGKILL, SIGKILL, SIGKILL, SIGTERM, SIGSEGV, SIGSTOP};
    int64_t parent = getpid();
    int64_t pid = atomic_load(&slot->pid);

    if (pid == 0)
        return;
    atomic_fetch_add(&slot->disturbed, 1);
    for (uint32_t depth = soak_roll(dice, 3); depth > 0 && pid > 0; depth--) {
        int64_t child = villain_child(pid);
        if (child == 0 || villain_parent(pid) != parent)
            break;
        parent = pid;
        pid = child;
    }
    if (villain_signal(pid, parent, signals[soak_roll(dice, sizeof signals / sizeof *signals)]))
        atomic_fetch_add(&soak->counts.kills, 1);
    atomic_fetch_add(&slot->disturbed, 1);
}

void soak_disturb(struct soak *soak, struct soak_dice *dice)
{
    while (atomic_load(&soak->phase) == SOAK_PLAY) {
        struct soak_player *player = &soak->players[soak_roll(dice, soak->n_players)];
        struct timespec pause = {0, (long)(1 + soak_roll(dice, 60)) * 1000000L};
        nanosleep(&pause, NULL); /* how often it strikes */
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
