/* SPDX-License-Identifier: MIT */
/* floors.c - costs of the system itself: a round trip of a message, the start of a program, a
 * box. */
#include "bench.h"

#include "os/namespaces.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PINGPONGS 16
#define MESSAGE_BYTES 64 /* about the size of execute, result, a call and its answer */

struct pingpong_cache {
    struct {
        size_t request, answer;
        struct pingpong *pingpong;
    } kept[MAX_PINGPONGS];
    int n;
};

/* The options that every session gets, and nothing else. */
#define BWRAP                                                                                      \
    "/usr/bin/bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",  \
        "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",     \
        "/lib64", "--symlink", "usr/bin", "/bin", "--ro-bind-try", "/etc/alternatives",            \
        "/etc/alternatives", "--ro-bind-try", "/etc/R", "/etc/R", "--ro-bind-try",                 \
        "/etc/ld.so.cache", "/etc/ld.so.cache", "--proc", "/proc", "--dev", "/dev", "--tmpfs",     \
        "/tmp", "--"

const char *const bench_bwrap_true[] = {BWRAP, "/usr/bin/true", NULL};
#define LUA    "/usr/bin/lua5.4", "-e", "return 1", NULL
#define PYTHON "/usr/bin/python3", "-I", "-c", "1", NULL
#define R      "/usr/bin/R", "--vanilla", "-s", "-e", "1", NULL
#define NODE   "/usr/bin/node", "-e", "1", NULL
const char *const bench_bwrap_lua[] = {BWRAP, LUA};
const char *const bench_bwrap_python[] = {BWRAP, PYTHON};
const char *const bench_bwrap_r[] = {BWRAP, R};
const char *const bench_lua[] = {LUA};
const char *const bench_python[] = {PYTHON};
const char *const bench_r[] = {R};
const char *const bench_bwrap_node[] = {BWRAP, NODE};
const char *const bench_node[] = {NODE};
static const char *const bare_true[] = {"/usr/bin/true", NULL};

double bench_pingpong(struct bench *bench, size_t request, size_t answer)
{
    struct pingpong_cache *cache = bench->pingpongs;
    int i = 0;

    if (!cache)
        cache = bench->pingpongs = calloc(1, sizeof *cache);
    if (!cache)
        abort();
    while (i < cache->n && (cache->kept[i].request != request || cache->kept[i].answer != answer))
        i++;
    if (i == cache->n) {
        struct pingpong *pingpong = i < MAX_PINGPONGS ? pingpong_start(request, answer) : NULL;
        if (!pingpong)
            abort();
        cache->kept[i].request = request;
        cache->kept[i].answer = answer;
        cache->kept[i].pingpong = pingpong;
        cache->n++;
        for (int warm = 0; warm < 20; warm++)
            pingpong_once(pingpong);
    }
    return pingpong_once(cache->kept[i].pingpong);
}

void bench_pingpongs_stop(struct bench *bench)
{
    for (int i = 0; bench->pingpongs && i < bench->pingpongs->n; i++)
        pingpong_stop(bench->pingpongs->kept[i].pingpong);
    free(bench->pingpongs);
    bench->pingpongs = NULL;
}

pid_t bench_begin(const char *const *argv)
{
    pid_t pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
            _exit(127);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    return pid;
}

double bench_spawn(const char *const *argv)
{
    double before = bench_now_us();
    int status;

    pid_t pid = bench_begin(argv);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        return -1;
    return bench_now_us() - before;
}

double bench_floor(const struct bench_point *point, const char *const *argv)
{
    return point->counter ? 0 : bench_spawn(argv);
}

enum bench_outcome bench_floor_pingpong(struct bench *bench, struct bench_point *point)
{
    while (!bench_is_full(point))
        bench_add(point, bench_pingpong(bench, MESSAGE_BYTES, MESSAGE_BYTES));
    return BENCH_DONE;
}

static enum bench_outcome bench_floor_spawn(struct bench_point *point, const char *const *argv)
{
    if (access(argv[0], X_OK))
        return bench_problem(point, "%s is missing", argv[0]);
    bench_spawn(argv); /* first, to read its files */
    while (!bench_is_full(point)) {
        double took = bench_spawn(argv);
        if (took < 0)
            return bench_problem(point, "%s failed", argv[0]);
        bench_add(point, took);
    }
    return BENCH_DONE;
}

enum bench_outcome bench_floor_forkexec(struct bench *bench, struct bench_point *point)
{
    (void)bench;
    return bench_floor_spawn(point, bare_true);
}

enum bench_outcome bench_floor_bwrap(struct bench *bench, struct bench_point *point)
{
    (void)bench;
    return bench_floor_spawn(point, bench_bwrap_true);
}

enum bench_outcome bench_floor_interpreter(struct bench *bench, struct bench_point *point)
{
    if (access(point->language->interpreter[0], X_OK))
        return bench_absent(bench, point->name, point->language->interpreter[0]);
    return bench_floor_spawn(point, point->language->interpreter);
}

/* In a process of its own, which has one thread: makes one with the namespaces of a session from a
 * template, which makes one more; waits for both. */
static bool floor_namespaces(void)
{
    pid_t pid = -1;
    int status;

    if (laz_os_clone_apart(false, &pid, NULL))
        return false;
    if (pid == 0) {
        pid = fork();
        if (pid == 0)
            _exit(0);
        _exit(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1);
    }
    return waitpid(pid, &status, 0) == pid && status == 0;
}

enum bench_outcome bench_floor_namespaces(struct bench *bench, struct bench_point *point)
{
    (void)bench;
    while (!bench_is_full(point)) {
        int status;
        double before = bench_now_us();
        pid_t pid = fork();
        if (pid == 0)
            _exit(floor_namespaces() ? 0 : 1);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            return bench_problem(point, "a process with namespaces cannot be created");
        bench_add(point, bench_now_us() - before);
    }
    return BENCH_DONE;
}
