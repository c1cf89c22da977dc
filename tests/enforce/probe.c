/* SPDX-License-Identifier: MIT */
/* probe.c - makes one small attempt, inside or outside a box.
 *
 * Each command tries one thing and prints one line: "ok", possibly with a result, or "errno N".
 * Tests run the same command outside first, where it has to work, then inside. A command touches
 * only what the caller names. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int probe_say(int failed)
{
    if (failed)
        printf("errno %d\n", errno);
    else
        printf("ok\n");
    return 0;
}

/* Lists open descriptors, except the one used for reading the list. */
static int probe_fds(char **args)
{
    struct dirent *entry;
    char open_fds[256] = {0};
    DIR *dir = opendir("/proc/self/fd");

    (void)args;
    if (!dir)
        return probe_say(1);
    while ((entry = readdir(dir))) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fd != dirfd(dir))
            open_fds[fd < 255 ? fd : 255] = 1;
    }
    closedir(dir);
    printf("ok");
    for (int i = 0; i < 256; i++)
        if (open_fds[i])
            printf(" %d", i);
    printf("\n");
    return 0;
}

static int probe_ids(char **args)
{
    uid_t uids[3];
    gid_t gids[3];

    (void)args;
    if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 ||
        getresgid(&gids[0], &gids[1], &gids[2]) != 0)
        return probe_say(1);
    printf("ok %u %u %u %u %u %u %d\n", uids[0], uids[1], uids[2], gids[0], gids[1], gids[2],
           getgroups(0, NULL));
    return 0;
}

/* Prints lines of /proc/self/status, by their names. */
static int probe_status(char **args)
{
    char line[512];
    FILE *status = fopen("/proc/self/status", "r");

    if (!status)
        return probe_say(1);
    printf("ok");
    while (fgets(line, sizeof line, status)) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        *colon = '\0';
        for (char **name = args; *name; name++)
            if (strcmp(*name, line) == 0)
                printf(" %.*s", (int)strcspn(colon + 1 + strspn(colon + 1, " \t"), "\n"),
                       colon + 1 + strspn(colon + 1, " \t"));
    }
    fclose(status);
    printf("\n");
    return 0;
}

static int probe_session(char **args)
{
    (void)args;
    printf("ok %d %d\n", getsid(0) == getpid(), getpgrp() == getpid());
    return 0;
}

static int probe_cwd(char **args)
{
    char path[4096];

    (void)args;
    if (!getcwd(path, sizeof path))
        return probe_say(1);
    printf("ok %s\n", path);
    return 0;
}

static int probe_env(char **args)
{
    extern char **environ;

    (void)args;
    printf("ok");
    for (char **name = environ; *name; name++)
        printf(" %s", *name);
    printf("\n");
    return 0;
}

__attribute__((noreturn)) static int probe_exit(char **args)
{
    exit(args[0] ? atoi(args[0]) : 0);
}

/* Prints "ok" and waits for a signal. */
__attribute__((noreturn)) static int probe_pause(char **args)
{
    (void)args;
    probe_say(0);
    fflush(stdout);
    for (;;)
        pause();
}

static int probe_read(char **args)
{
    char text[256];
    int fd = open(args[0], O_RDONLY | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (n < 0)
        return probe_say(1);
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    printf("ok %s\n", text);
    return 0;
}

static int probe_write(char **args)
{
    int fd = open(args[0], O_WRONLY | O_CREAT, 0600);

    return probe_say(fd < 0 || write(fd, "x", 1) != 1);
}

/* Opens a file for writing without writing, because it must not be changed even if it can be. */
static int probe_open_write(char **args)
{
    return probe_say(open(args[0], O_WRONLY) < 0);
}

static int probe_mkdir(char **args)
{
    return probe_say(mkdir(args[0], 0700) != 0);
}

static int probe_exists(char **args)
{
    struct stat st;

    return probe_say(stat(args[0], &st) != 0);
}

/* connect PORT: connects by TCP to the loopback address. */
static int probe_connect(char **args)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_port = htons((uint16_t)atoi(args[0]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return probe_say(fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0);
}

/* abstract NAME: connects to an abstract Unix socket. */
static int probe_abstract(char **args)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(args[0]);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    memcpy(address.sun_path + 1, args[0], len);
    return probe_say(fd < 0 ||
                     connect(fd, (struct sockaddr *)&address,
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) != 0);
}

static int probe_kill(char **args)
{
    return probe_say(kill(atoi(args[0]), SIGUSR1) != 0);
}

static int probe_unshare(char **args)
{
    (void)args;
    return probe_say(unshare(CLONE_NEWUSER) != 0);
}

/* fill FILE MAX: writes as much as possible; prints the number of bytes and the error that ended
 * it. */
static int probe_fill(char **args)
{
    static char block[4096];
    long long total = 0;
    int fd = open(args[0], O_WRONLY | O_CREAT, 0600);
    ssize_t n = fd < 0 ? -1 : 0;

    signal(SIGXFSZ, SIG_IGN);
    while (n >= 0 && total < atoll(args[1])) {
        n = write(fd, block, sizeof block);
        if (n > 0)
            total += n;
    }
    printf("ok %lld %d\n", total, n < 0 ? errno : 0);
    if (fd >= 0)
        unlink(args[0]);
    return 0;
}

/* nproc LIMIT TRIES: counts how many children can exist under that limit on processes. */
static int probe_nproc(char **args)
{
    struct rlimit limit = {(rlim_t)atol(args[0]), (rlim_t)atol(args[0])};
    int wanted = atoi(args[1]), made = 0, gate[2];
    char c;

    if (setrlimit(RLIMIT_NPROC, &limit) != 0 || pipe(gate) != 0)
        return probe_say(1);
    fflush(stdout);
    for (; made < wanted; made++) {
        pid_t pid = fork();
        if (pid == 0) {
            close(gate[1]);
            _exit(read(gate[0], &c, 1) == 0 ? 0 : 1);
        }
        if (pid < 0)
            break;
    }
    close(gate[1]);
    while (wait(NULL) > 0)
        ;
    printf("ok %d\n", made);
    return 0;
}

/* exec PROGRAM ARG...: executes it in this process. */
static int probe_exec(char **args)
{
    execv(args[0], args);
    return probe_say(1);
}

static const struct {
    const char *name;
    int args; /* at least */
    int (*run)(char **args);
} probe_commands[] = {
    {"fds", 0, probe_fds},         {"ids", 0, probe_ids},
    {"status", 1, probe_status},   {"session", 0, probe_session},
    {"cwd", 0, probe_cwd},         {"env", 0, probe_env},
    {"exit", 1, probe_exit},       {"pause", 0, probe_pause},
    {"read", 1, probe_read},       {"write", 1, probe_write},
    {"mkdir", 1, probe_mkdir},     {"open-write", 1, probe_open_write},
    {"exists", 1, probe_exists},   {"connect", 1, probe_connect},
    {"kill", 1, probe_kill},       {"abstract", 1, probe_abstract},
    {"unshare", 0, probe_unshare}, {"fill", 2, probe_fill},
    {"nproc", 2, probe_nproc},     {"exec", 1, probe_exec},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof probe_commands / sizeof probe_commands[0]; i++)
        if (strcmp(argv[1], probe_commands[i].name) == 0 && argc - 2 >= probe_commands[i].args)
            return probe_commands[i].run(argv + 2);
    fprintf(stderr, "probe: no such command\n");
    return 64;
}
