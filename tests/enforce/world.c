/* SPDX-License-Identifier: MIT */
/* world.c - for tests: targets of attacks, and sessions to attack them from. */
#include "world.h"

#include "attack.h"
#include "base/buf.h"
#include "engine/engine.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/spawner.h"
#include "os/users.h"
#include "session/live.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORLD_NAMES 48
/* Uids of sessions when root runs the tests: within the default range. */
#define WORLD_UIDS 2080060000u

static struct {
    char base[64];
    struct {
        char name[24], value[160];
    } names[WORLD_NAMES];
    size_t n;
    int sockets[8];
    size_t n_sockets;
    int shm;
    char queue[32];
    unsigned arenas;
} world = {.shm = -1};

static char world_canary[] = "secret in memory";

/* ---- names ---------------------------------------------------------------------------------- */

const char *world_get(const char *name)
{
    for (size_t i = 0; i < world.n; i++)
        if (strcmp(world.names[i].name, name) == 0)
            return world.names[i].value;
    return NULL;
}

void world_set(const char *name, const char *value)
{
    size_t i = 0;

    while (i < world.n && strcmp(world.names[i].name, name) != 0)
        i++;
    if (i == WORLD_NAMES)
        return;
    snprintf(world.names[i].name, sizeof world.names[i].name, "%s", name);
    snprintf(world.names[i].value, sizeof world.names[i].value, "%s", value);
    world.n = i < world.n ? world.n : i + 1;
}

static void world_set_number(const char *name, long long number)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", number);
    world_set(name, text);
}

const char *world_fill(const char *text)
{
    static char results[2][4096];
    static unsigned next;
    char *out = results[next++ % 2], name[24];
    size_t n = 0;

    while (*text && n < sizeof results[0] - 200) {
        size_t len = *text == '@' ? strcspn(text + 1, "@ '\"\n") : 0;
        const char *value = NULL;
        if (len && len < sizeof name && text[1 + len] == '@') {
            snprintf(name, sizeof name, "%.*s", (int)len, text + 1);
            value = world_get(name);
        }
        if (value) {
            n += (size_t)snprintf(out + n, 200, "%s", value);
            text += len + 2;
        } else {
            out[n++] = *text++;
        }
    }
    out[n] = '\0';
    return out;
}

/* ---- making --------------------------------------------------------------------------------- */

static bool world_file(const char *name, const char *file, unsigned mode)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", world.base, file);
    world_set(name, path);
    return laz_os_write_file(path, "secret\n", 7, mode, NULL) == 0 && chmod(path, mode) == 0;
}

static bool world_directory(const char *name, const char *file, unsigned mode)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", world.base, file);
    world_set(name, path);
    return laz_os_make_directory(path, mode, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) == 0;
}

static bool world_listen(const char *name, int family, int type, void *address, socklen_t len)
{
    int fd = socket(family, type | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, address, len) != 0 || (type == SOCK_STREAM && listen(fd, 64) != 0) ||
        getsockname(fd, address, &len) != 0) {
        printf("\n    %s: %s\n", name, strerror(errno));
        return false;
    }
    world.sockets[world.n_sockets++] = fd;
    if (family == AF_INET)
        world_set_number(name, ntohs(((struct sockaddr_in *)address)->sin_port));
    if (family == AF_INET6)
        world_set_number(name, ntohs(((struct sockaddr_in6 *)address)->sin6_port));
    return true;
}

static bool world_sockets(void)
{
    struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in udp = tcp;
    struct sockaddr_in6 tcp6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_un path = {.sun_family = AF_UNIX}, name = path;
    char text[64];

    snprintf(path.sun_path, sizeof path.sun_path, "%.60s/socket", world.base);
    world_set("socket", path.sun_path);
    snprintf(text, sizeof text, "laz-test-%d", (int)getpid());
    memcpy(name.sun_path + 1, text, strlen(text));
    world_set("abstract", text);
    return world_listen("tcp4", AF_INET, SOCK_STREAM, &tcp, sizeof tcp) &&
           world_listen("udp", AF_INET, SOCK_DGRAM, &udp, sizeof udp) &&
           world_listen("tcp6", AF_INET6, SOCK_STREAM, &tcp6, sizeof tcp6) &&
           world_listen("socket", AF_UNIX, SOCK_STREAM, &path, sizeof path) &&
           chmod(path.sun_path, 0666) == 0 &&
           world_listen("abstract", AF_UNIX, SOCK_STREAM, &name,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(text)));
}

/* Makes a key that every user may read: user keys, keyrings(7). */
static bool world_key(void)
{
    long key = syscall(SYS_add_key, "user", "laz-test", "secret", 6, KEY_SPEC_PROCESS_KEYRING);

    if (key < 0 || syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f3f3f3f) < 0) {
        printf("\n    key: %s\n", strerror(errno));
        return false;
    }
    world_set_number("key", key);
    return true;
}

static bool world_shared(void)
{
    key_t key = (key_t)(0x1a5a0000 | (getpid() & 0xffff));
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};

    /* another test may use this one, or a killed one may have left it */
    for (; (world.shm = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666)) < 0 && errno == EEXIST;)
        key += 0x10000;
    world_set_number("shm", key);
    snprintf(world.queue, sizeof world.queue, "/laz-test-%d", (int)getpid());
    world_set("mq", world.queue);
    mq_unlink(world.queue); /* left by a process with the same id */
    mode_t mask = umask(0);
    mqd_t queue = mq_open(world.queue, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666, &attr);
    umask(mask);
    if (queue != (mqd_t)-1)
        mq_close(queue);
    return world.shm >= 0 && queue != (mqd_t)-1;
}

bool world_make(void)
{
    char name[256] = "";
    struct stat st;

    snprintf(world.base, sizeof world.base, "/var/tmp/laz-test-world-XXXXXX");
    if (!mkdtemp(world.base) || chmod(world.base, 0755) != 0)
        return false;
    world_set("base", world.base);
    setenv(WORLD_SECRET, "hidden-value", 1);
    (void)gethostname(name, sizeof name - 1);
    world_set("host", name);
    bool good =
        world_file("canary", "canary", 0644) && world_file("writable", "writable", 0666) &&
        world_directory("ssh", ".ssh", 0755) && world_file("identity", ".ssh/id_test", 0644) &&
        world_directory("open", "open", 0777) && world_file("removable", "open/file", 0666) &&
        world_sockets() && world_key() && world_shared();
    /* open in this process and inherited by exec: a library cannot know what its host has open */
    int fd = open(world_get("canary"), O_RDONLY | O_CLOEXEC), high = fcntl(fd, F_DUPFD, 200);
    laz_os_close(&fd);
    fd = high; /* a number that no child uses for its own descriptors */
    good = good && fd >= 0 && fstat(fd, &st) == 0;
    if (!good)
        return false;
    world_set_number("descriptor", fd);
    snprintf(name, sizeof name, "%llu %llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    world_set("file", name);
    snprintf(name, sizeof name, "%llx", (unsigned long long)(uintptr_t)world_canary);
    world_set("address", name);
    return true;
}

void world_end(void)
{
    for (size_t i = 0; i < world.n_sockets; i++)
        close(world.sockets[i]);
    if (world.shm >= 0)
        shmctl(world.shm, IPC_RMID, NULL);
    mq_unlink(world.queue);
    laz_os_remove_tree(world.base);
}

/* ---- arenas --------------------------------------------------------------------------------- */

bool arena_engine(struct arena *arena, const char *backend, const char *settings)
{
    char text[1024];
    uint32_t uid = WORLD_UIDS + (unsigned)getpid() * 64 + world.arenas++ % 64;

    *arena = (struct arena){.uid = LAZ_SPAWN_SAME_ID};
    arena->is_warm = strcmp(backend, WORLD_TEMPLATE) == 0;
    snprintf(text, sizeof text, "sandbox.backend=%s;sandbox.require=[]%s%s",
             arena->is_warm ? "bwrap;pool.warm=template" : backend, settings[0] ? ";" : "",
             settings);
    if (laz_os_is_root()) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, ";sandbox.uids=%u-%u", uid, uid);
        arena->uid = uid;
    }
    arena->engine = test_engine(text);
    return arena->engine != NULL;
}

bool arena_open(struct arena *arena, const char *backend, const char *runtime, const char *settings)
{
    if (arena_engine(arena, backend, settings))
        arena->session = arena->is_warm ? test_warm_session(arena->engine, runtime)
                                        : test_session(arena->engine, runtime);
    if (arena->session)
        return true;
    arena_close(arena);
    return false;
}

const char *arena_directory(const struct arena *arena)
{
    static char path[160];

    snprintf(path, sizeof path, "%s/b0", arena->engine->directory);
    return path;
}

static void arena_end_victim(struct arena *arena)
{
    if (arena->victim > 0) {
        kill(arena->victim, SIGKILL);
        waitpid(arena->victim, NULL, 0);
    }
    arena->victim = 0;
}

void arena_close(struct arena *arena)
{
    laz_session_free(arena->session);
    laz_engine_free(arena->engine);
    arena->session = NULL;
    arena->engine = NULL;
    arena_end_victim(arena);
}

/* A process that other processes of its user may inspect, as a target. */
__attribute__((noreturn)) static void arena_be_victim(uint32_t uid, int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (uid != LAZ_SPAWN_SAME_ID &&
        (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0))
        _exit(1);
    prctl(PR_SET_DUMPABLE, 1);
    if (write(ready, "r", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static bool arena_make_victim(struct arena *arena)
{
    int ends[2];
    char c;

    if (pipe(ends) != 0)
        return false;
    arena->victim = fork();
    if (arena->victim == 0)
        arena_be_victim(arena->uid, ends[1]);
    close(ends[1]);
    bool ready = read(ends[0], &c, 1) == 1;
    close(ends[0]);
    return arena->victim > 0 && ready;
}

/* The number that the process of a session from a template has inside; -1: there is none. */
static long arena_own_number(const struct arena *arena)
{
    long pid = arena->is_warm ? (long)laz_session_pid(arena->session) : -1, number = -1;
    char path[64], line[256];

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", pid, pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    if (fscanf(file, "%ld", &pid) != 1)
        pid = -1;
    fclose(file);
    snprintf(path, sizeof path, "/proc/%ld/status", pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "NSpid:", 6) == 0)
            number = strtol(strrchr(line, '\t'), NULL, 10);
    if (file)
        fclose(file);
    return number;
}

/* Such a session begins at any number, and its attacks use the next ones: they would find
 * themselves where the number of the victim is one of these. */
#define ARENA_NUMBERS 1000
bool arena_victim(struct arena *arena)
{
    const long own = arena_own_number(arena);

    if (arena->victim > 0 && waitpid(arena->victim, NULL, WNOHANG) == arena->victim)
        arena->victim = 0;
    while (arena->victim <= 0 ||
           (own > 0 && arena->victim >= own && arena->victim < own + ARENA_NUMBERS)) {
        arena_end_victim(arena);
        if (!arena_make_victim(arena))
            return false;
    }
    world_set_number("victim", arena->victim);
    return true;
}

const char *arena_try(struct arena *arena, const char *code)
{
    static char words[2][400];
    static unsigned next;
    char *word = words[next++ % 2];
    struct laz_result *result = test_run(arena->session, world_fill(code), NULL);

    snprintf(word, sizeof words[0], "no result");
    if (!result)
        return word;
    const char *value = laz_result_value(result), *error = laz_result_error(result);
    if (laz_result_verdict(result) != LAZ_VERDICT_OK)
        snprintf(word, sizeof words[0], "%s: %.300s", laz_verdict_name(laz_result_verdict(result)),
                 error ? error : laz_result_detail(result));
    else if (value && value[0] == '"')
        snprintf(word, sizeof words[0], "%.*s", (int)strcspn(value + 1, "\""), value + 1);
    else
        snprintf(word, sizeof words[0], "%s", value ? value : "null");
    laz_result_free(result);
    return word;
}

const char *arena_bare(struct arena *arena, const char *line)
{
    static char word[64];

    (void)arena;
    attack_run(world_fill(line), word, sizeof word);
    return word;
}

bool arena_is_one_of(const char *word, const char *list)
{
    size_t len = strlen(word);

    for (const char *at = list; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == len && strncmp(at, word, len) == 0)
            return true;
    return false;
}
