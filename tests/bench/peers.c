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

#define SRT         "npm package @anthropic-ai/sandbox-runtime, and its programs"
#define DENO        "npm package deno"
#define ISOLATED_VM "npm package isolated-vm, found through NODE_PATH"
#define SECURER     "R package securer"

static const struct peer {
    const char *row;
    const char *program; /* searched in PATH */
    const char *script;  /* NULL: a command */
    const char *what;    /* argument of the command, or of the script */
    bool is_call;        /* its floor is a message round trip, not a box */
    const char *brings;  /* what to install */
} peers[] = {
    {"peer.srt.start", "srt", NULL, "true", false, SRT},
    {"peer.deno.start", "deno", NULL, "eval", false, DENO},
    {"peer.isolated_vm.session", "node", "peer_isolated_vm.js", "session", false, ISOLATED_VM},
    {"peer.isolated_vm.execute", "node", "peer_isolated_vm.js", "execute", true, ISOLATED_VM},
    {"peer.isolated_vm.tool_call", "node", "peer_isolated_vm.js", "tool_call", true, ISOLATED_VM},
    {"peer.securer.session", "Rscript", "peer_securer.R", "session", false, SECURER},
    {"peer.securer.execute", "Rscript", "peer_securer.R", "execute", true, SECURER},
    {"peer.securer.tool_call", "Rscript", "peer_securer.R", "tool_call", true, SECURER},
};

/* Finds the program in a directory of PATH; false: there is none. */
static bool peer_find(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");

    for (const char *end; folders && *folders; folders = *end ? end + 1 : end) {
        end = folders + strcspn(folders, ":");
        snprintf(path, size, "%.*s/%s", (int)(end - folders), folders, name);
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
    const char *argv[] = {path, peer->what, strcmp(peer->what, "eval") == 0 ? "1+1" : NULL, NULL};

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
    char script[512], samples[16];
    int ends[2];

    snprintf(script, sizeof script, "%s/%s", BENCH_FOLDER, peer->script);
    snprintf(samples, sizeof samples, "%d", point->wanted);
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        if (dup2(null, 0) < 0 || dup2(null, 2) < 0 || dup2(ends[1], 1) < 0)
            _exit(127);
        execl(path, path, script, peer->what, samples, (char *)NULL);
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
        return bench_problem(point, "%s gave %d samples and status %d", peer->script,
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
    return peers[i].script ? peer_script(bench, point, &peers[i], path)
                           : peer_command(bench, point, &peers[i], path);
}
