/* SPDX-License-Identifier: MIT */
/* weak_bwrap.c - runs bwrap without the layers that its own file name lists.
 *
 * A test calls it bwrap-LAYER+LAYER and names it in sandbox.bwrap.program. It changes the options
 * in the descriptor of --args and executes the real bwrap. With `stranger` it acts as a process
 * outside of the box that knows the token and takes the agent's place. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WEAK_ARGS 1024

static char weak_text[1 << 18];
static const char *weak_given[WEAK_ARGS]; /* options of the descriptor */
static const char *weak_made[WEAK_ARGS];
static size_t weak_n_given, weak_n_made;
static const char *weak_name; /* LAYER+LAYER */

static int weak_lacks(const char *layer)
{
    size_t len = strlen(layer);

    for (const char *at = weak_name; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL)
        if (strncmp(at, layer, len) == 0 && (at[len] == '\0' || at[len] == '+'))
            return 1;
    return 0;
}

static void weak_add(const char *arg)
{
    if (weak_n_made < WEAK_ARGS - 1)
        weak_made[weak_n_made++] = arg;
}

static void weak_add_namespaces(void)
{
    static const char *const each[][2] = {
        {"user", "--unshare-user"}, {"ipc", "--unshare-ipc"}, {"pid", "--unshare-pid"},
        {"net", "--unshare-net"},   {"uts", "--unshare-uts"}, {"cgroup", "--unshare-cgroup-try"},
    };

    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (!weak_lacks(each[i][0]))
            weak_add(each[i][1]);
}

/* The options of each layer, with their number of values. */
static const struct {
    const char *layer, *option, *value;
    int values;
} weak_options[] = {
    {"nesting", "--disable-userns", NULL, 0},
    {"user", "--unshare-user", NULL, 0},
    {"user", "--disable-userns", NULL, 0}, /* requires those three */
    {"user", "--uid", NULL, 1},
    {"user", "--gid", NULL, 1},
    {"session", "--new-session", NULL, 0},
    {"capabilities", "--cap-drop", "ALL", 1},
    {"death", "--die-with-parent", NULL, 0},
    {"root", "--remount-ro", "/", 1},
    {"proc", "--remount-ro", "/proc", 1},
    {"dev", "--remount-ro", "/dev", 1},
    {"sizes", "--size", NULL, 1},
    {"uts", "--hostname", NULL, 1},
};

/* The number of arguments from here on that belong to a removed layer. */
static size_t weak_missing(size_t at)
{
    for (size_t i = 0; i < sizeof weak_options / sizeof *weak_options; i++)
        if (weak_lacks(weak_options[i].layer) &&
            strcmp(weak_given[at], weak_options[i].option) == 0 &&
            (!weak_options[i].value ||
             (at + 1 < weak_n_given && strcmp(weak_given[at + 1], weak_options[i].value) == 0)))
            return 1 + (size_t)weak_options[i].values;
    return 0;
}

static void weak_bind(const char *option, const char *path)
{
    weak_add(option);
    weak_add(path);
    weak_add(path);
}

static void weak_change(const char *directory)
{
    for (size_t i = 0; i < weak_n_given; i++) {
        size_t missing = weak_missing(i);
        if (weak_lacks("files") && strcmp(weak_given[i], "--remount-ro") == 0 &&
            i + 1 < weak_n_given && strcmp(weak_given[i + 1], "/") == 0)
            weak_bind("--bind", directory); /* while directories can still be made */
        if (missing) {
            i += missing - 1;
        } else if (strcmp(weak_given[i], "--unshare-all") == 0) {
            weak_add_namespaces();
        } else if (strcmp(weak_given[i], "--proc") == 0 && weak_lacks("pid")) {
            weak_bind("--bind", "/proc"); /* a new /proc cannot be mounted */
            i++;
        } else {
            weak_add(weak_given[i]);
        }
    }
    if (weak_lacks("programs"))
        weak_bind("--ro-bind", "/usr/bin");
}

static void weak_read(int fd)
{
    size_t len = 0;
    ssize_t n;

    while (len < sizeof weak_text - 1 &&
           (n = read(fd, weak_text + len, sizeof weak_text - 1 - len)) > 0)
        len += (size_t)n;
    for (size_t at = 0; at < len && weak_n_given < WEAK_ARGS; at += strlen(weak_text + at) + 1)
        weak_given[weak_n_given++] = weak_text + at;
}

static int weak_write(int fd)
{
    int memory = memfd_create("arguments", 0);

    for (size_t i = 0; i < weak_n_made; i++) {
        size_t len = strlen(weak_made[i]) + 1;
        if (write(memory, weak_made[i], len) != (ssize_t)len)
            return -1;
    }
    if (lseek(memory, 0, SEEK_SET) != 0 || dup2(memory, fd) < 0)
        return -1;
    return memory == fd ? 0 : close(memory);
}

/* ---- the stranger --------------------------------------------------------------------------- */

static const char *weak_value(const char *option, const char *name)
{
    for (size_t i = 0; i + 2 < weak_n_given; i++)
        if (strcmp(weak_given[i], option) == 0 && strcmp(weak_given[i + 1], name) == 0)
            return weak_given[i + 2];
    return "";
}

/* The host's directory that the box sees as /run/lazaret/socket. */
static const char *weak_socket(void)
{
    for (size_t i = 2; i < weak_n_given; i++)
        if (strcmp(weak_given[i], "/run/lazaret/socket") == 0 &&
            strcmp(weak_given[i - 2], "--ro-bind") == 0)
            return weak_given[i - 1];
    return "";
}

/* Is there a process of that name below bwrap? Then bwrap has reported its box to the host. */
static int weak_box_lives(void)
{
    char path[96], comm[32] = "";
    int pid = (int)getppid();

    for (int depth = 0; depth < 2; depth++) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
        FILE *file = fopen(path, "re");
        int child = 0, next;
        while (file && fscanf(file, "%d", &next) == 1)
            child = next == (int)getpid() ? child : next;
        if (file)
            (void)fclose(file);
        if (!child)
            return 0;
        pid = child;
    }
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *file = fopen(path, "re");
    if (!file || fscanf(file, "%31s", comm) != 1)
        comm[0] = '\0';
    if (file)
        (void)fclose(file);
    return strcmp(comm, "sleep") == 0;
}

__attribute__((noreturn)) static void weak_be_stranger(void)
{
    static const char ready[] =
        "{\"type\":\"ready\",\"protocol\":1,\"runtime\":\"attack\",\"version\":\"1\","
        "\"confined\":[\"no_new_privs\",\"core\",\"limits\",\"landlock\",\"filter\"],"
        "\"missing\":[]}\n";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char c;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (!weak_box_lives())
        usleep(1000);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s/ipc.sock", weak_socket());
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        _exit(1);
    dprintf(fd, "%s\n", weak_value("--setenv", "LAZARET_TOKEN"));
    while (read(fd, &c, 1) == 1 && c != '\n') /* init */
        ;
    if (write(fd, ready, sizeof ready - 1) < 0)
        _exit(1);
    while (read(fd, &c, 1) == 1)
        ;
    _exit(0);
}

int main(int argc, char **argv)
{
    static char directory[512];
    char *program = strrchr(argv[0], '/');

    if (argc < 5 || !program || strncmp(program, "/bwrap-", 7) != 0) {
        fprintf(stderr, "weak_bwrap: not called as bwrap-LAYER\n");
        return 1;
    }
    weak_name = program + 7;
    snprintf(directory, sizeof directory, "%s", argv[0]);
    int fd = atoi(argv[2]);
    weak_read(fd);
    weak_change(dirname(directory));
    if (weak_write(fd) != 0)
        return 1;
    char bwrap[] = "/usr/bin/bwrap", sleeps[] = "/usr/bin/sleep", seconds[] = "60";
    char *stranger[] = {bwrap, argv[1], argv[2], argv[3], sleeps, seconds, NULL};
    argv[0] = bwrap;
    if (weak_lacks("stranger") && fork() == 0)
        weak_be_stranger();
    execv(bwrap, weak_lacks("stranger") ? stranger : argv);
    fprintf(stderr, "weak_bwrap: %s\n", strerror(errno));
    return 1;
}
