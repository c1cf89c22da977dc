/* SPDX-License-Identifier: MIT */
/* peers.c - measures other sandboxes at the same work, if they are installed.
 *
 * Commands are timed from fork to end. Libraries are driven by a script in their language, which
 * prints one time in microseconds a line and exits with 77 when the library is not installed. */
#include "bench.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEER_ABSENT 77

#define PEER_WORDS 10

#define SRT         "npm package @anthropic-ai/sandbox-runtime, and its programs"
#define FIREJAIL    "Debian package firejail"
#define DENO        "npm package deno"
#define NODE        "Debian package nodejs"
#define ISOLATED_VM "Debian package nodejs, npm package isolated-vm found through NODE_PATH"
#define QUICKJS     "Debian package nodejs, npm package quickjs-emscripten found through NODE_PATH"
#define SECURER     "Debian package r-base-core, R package securer"

#define CALL true  /* its floor is a round trip of a message */
#define BOX  false /* its floor is a bare box */

/* row, program (searched in PATH), what to install, floor, words for the program: of a script in
 * tests/bench the first is its name, and the number of samples comes after the last */
static const struct peer {
    const char *row, *program, *brings;
    bool is_call, is_script;
    const char *words[PEER_WORDS];
} peers[] = {
    {"peer.srt.start", "srt", SRT, BOX, false, {"true"}},
    {"peer.firejail.start",
     "firejail",
     FIREJAIL,
     BOX,
     false,
     {"--quiet", "--noprofile", "--private", "--net=none", "--caps.drop=all", "--nonewprivs",
      "--seccomp", "true"}},
    {"peer.deno.start", "deno", DENO, BOX, false, {"eval", "1+1"}},
    {"peer.isolated_vm.session",
     "node",
     ISOLATED_VM,
     BOX,
     true,
     {"peer_isolated_vm.js", "session"}},
    {"peer.isolated_vm.execute",
     "node",
     ISOLATED_VM,
     CALL,
     true,
     {"peer_isolated_vm.js", "execute"}},
    {"peer.isolated_vm.tool_call",
     "node",
     ISOLATED_VM,
     CALL,
     true,
     {"peer_isolated_vm.js", "tool_call"}},
    {"peer.quickjs.session", "node", QUICKJS, BOX, true, {"peer_quickjs.js", "session"}},
    {"peer.quickjs.execute", "node", QUICKJS, CALL, true, {"peer_quickjs.js", "execute"}},
    {"peer.quickjs.tool_call", "node", QUICKJS, CALL, true, {"peer_quickjs.js", "tool_call"}},
    {"peer.node_worker.session", "node", NODE, BOX, true, {"peer_node.js", "worker", "session"}},
    {"peer.node_worker.execute", "node", NODE, CALL, true, {"peer_node.js", "worker", "execute"}},
    {"peer.node_worker.tool_call",
     "node",
     NODE,
     CALL,
     true,
     {"peer_node.js", "worker", "tool_call"}},
    {"peer.node_fork.session", "node", NODE, BOX, true, {"peer_node.js", "fork", "session"}},
    {"peer.node_fork.execute", "node", NODE, CALL, true, {"peer_node.js", "fork", "execute"}},
    {"peer.node_fork.tool_call", "node", NODE, CALL, true, {"peer_node.js", "fork", "tool_call"}},
    {"peer.securer.session", "Rscript", SECURER, BOX, true, {"peer_securer.R", "session"}},
    {"peer.securer.execute", "Rscript", SECURER, CALL, true, {"peer_securer.R", "execute"}},
    {"peer.securer.tool_call", "Rscript", SECURER, CALL, true, {"peer_securer.R", "tool_call"}},
};

/* Finds the program in a directory of PATH; false: there is none. */
static bool peer_find(const char *name, char *path, size_t size)
{
    const char *directories = getenv("PATH");

    for (const char *end; directories && *directories; directories = *end ? end + 1 : end) {
        end = directories + strcspn(directories, ":");
        snprintf(path, size, "%.*s/%s", (int)(end - directories), directories, name);
        if (*path == '/' && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

static enum bench_outcome peer_absent(struct bench *bench, const struct peer *peer)
{
    char name[BENCH_NAME_SIZE];

    snprintf(name, sizeof name, "%s", peer->row);
    *strrchr(name, '.') = '\0';
    return bench_absent(bench, name, peer->brings);
}

static void peer_floor(struct bench *bench, struct bench_point *point, const struct peer *peer)
{
    double floor = peer->is_call ? bench_pingpong(bench, BENCH_EXECUTE_BYTES, BENCH_RESULT_BYTES)
                                 : bench_spawn(bench_bwrap_true);

    if (floor > 0)
        bench_add_floor(point, floor);
}

static enum bench_outcome peer_command(struct bench *bench, struct bench_point *point,
                                       const struct peer *peer, const char *path)
{
    const char *argv[PEER_WORDS + 2] = {path};

    memcpy(argv + 1, peer->words, sizeof peer->words);
    if (bench_spawn(argv) < 0) /* something that it needs is missing */
        return peer_absent(bench, peer);
    while (!bench_is_full(point)) {
        double took = bench_spawn(argv);
        if (took < 0)
            return bench_problem(point, "%s failed", path);
        bench_add(point, took);
        peer_floor(bench, point, peer);
    }
    return BENCH_DONE;
}

/* Starts the script, whose output can be read from *out. */
static pid_t peer_start(const struct bench_point *point, const struct peer *peer, const char *path,
                        FILE **out)
{
    const char *argv[PEER_WORDS + 3] = {path};
    char script[512], samples[16];
    int ends[2], n = 0;

    while (n < PEER_WORDS && peer->words[n]) {
        argv[n + 1] = peer->words[n];
        n++;
    }
    snprintf(script, sizeof script, "%s/%s", BENCH_DIRECTORY, peer->words[0]);
    snprintf(samples, sizeof samples, "%d", point->wanted);
    argv[1] = script;
    argv[n + 1] = samples;
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        if (dup2(null, 0) < 0 || dup2(null, 2) < 0 || dup2(ends[1], 1) < 0)
            _exit(127);
        execv(path, (char *const *)argv);
        _exit(127);
    }
    close(ends[1]);
    *out = fdopen(ends[0], "r");
    if (!*out)
        abort();
    return pid;
}

static enum bench_outcome peer_script(struct bench *bench, struct bench_point *point,
                                      const struct peer *peer, const char *path)
{
    FILE *out = NULL;
    double took;
    int status = -1;

    pid_t pid = peer_start(point, peer, path, &out);
    if (pid < 0)
        return bench_problem(point, "%s cannot be started", path);
    while (fscanf(out, "%lf", &took) == 1)
        bench_add(point, took);
    fclose(out);
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == PEER_ABSENT)
        return peer_absent(bench, peer);
    if (status != 0 || !bench_is_full(point))
        return bench_problem(point, "%s gave %d samples and status %d", peer->words[0],
                             point->values.n, status);
    for (int i = 0; i < point->wanted; i++)
        peer_floor(bench, point, peer);
    return BENCH_DONE;
}

enum bench_outcome bench_peer(struct bench *bench, struct bench_point *point)
{
    char path[4096];
    size_t i = 0;

    while (strcmp(peers[i].row, point->row->name) != 0)
        i++;
    if (!peer_find(peers[i].program, path, sizeof path))
        return peer_absent(bench, &peers[i]);
    return peers[i].is_script ? peer_script(bench, point, &peers[i], path)
                              : peer_command(bench, point, &peers[i], path);
}
