/* SPDX-License-Identifier: MIT */
/* backends.c - for tests: the backends of this build, plans made with them, boxes started. */
#include "backends.h"

#include "base/clock.h"
#include "os/descriptors.h"
#include "os/process.h"
#include "os/programs.h"
#include "os/spawner.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_MS 900000 /* enough for any machine */

const char *backends_built(const char *name)
{
    static char path[4200];
    ssize_t n = readlink("/proc/self/exe", path, 4000);

    if (n <= 0)
        return "";
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    *slash = '\0';
    if (slash - path > 6 && strcmp(slash - 6, "/.libs") == 0)
        slash[-6] = '\0';
    snprintf(path + strlen(path), 200, "/%s", name);
    return path;
}

const struct laz_plugin *backends_load(const char *name)
{
    char file[64];

    snprintf(file, sizeof file, ".libs/%s.so", name);
    void *object = dlopen(backends_built(file), RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        printf("\n    %s\n", dlerror());
        return NULL;
    }
    return dlsym(object, "lazaret_plugin");
}

/* Reads all three streams to the end. */
static bool run_listen(int *fds, struct laz_buf **bufs)
{
    uint64_t end = laz_clock_ms() + RUN_MS;
    struct pollfd streams[3];
    int open_streams = 0;

    for (int i = 0; i < 3; i++) {
        streams[i] = (struct pollfd){fds[i], POLLIN, 0};
        open_streams += fds[i] >= 0;
    }
    while (open_streams > 0) {
        uint64_t now = laz_clock_ms();
        if (now >= end || (poll(streams, 3, (int)(end - now)) < 0 && errno != EINTR))
            return false;
        for (int i = 0; i < 3; i++) {
            char block[4096];
            if (streams[i].fd < 0 || !streams[i].revents)
                continue;
            ssize_t n = read(streams[i].fd, block, sizeof block);
            if (n > 0) {
                laz_buf_append(bufs[i], block, (size_t)n);
            } else {
                streams[i].fd = -1;
                open_streams--;
            }
        }
    }
    return true;
}

static bool run_start(struct laz_spawner *spawner, const struct laz_plan *plan, uint32_t uid,
                      const char *program, int *fds, struct laz_process *process,
                      struct laz_error *err)
{
    static const char *const nothing[] = {NULL};
    struct laz_spawn_fd given[40];
    const char *argv[40] = {program};
    int ends[3] = {-1, -1, -1};
    size_t n = 0, data;
    bool good = plan->n_data < 30 && plan->argv.n < 39;

    for (size_t i = 1; good && i < plan->argv.n; i++)
        argv[i] = plan->argv.items[i];
    for (int i = 0; i < 3 && good; i++) {
        int child = i < 2 ? i + 1 : plan->status_fd;
        if (child < 0)
            continue;
        good = laz_os_cloexec_pipe(&fds[i], &ends[i], err) == 0;
        given[n++] = (struct laz_spawn_fd){ends[i], child};
    }
    data = n;
    for (size_t i = 0; i < plan->n_data && good; i++, n++) {
        given[n].child = plan->data[i].child_fd;
        good = laz_os_data_fd("data", laz_buf_text(&plan->data[i].content),
                              plan->data[i].content.len, &given[n].parent, err) == 0;
    }
    struct laz_spawn spawn = {
        .argv = argv,
        .env = plan->env.n ? (const char *const *)plan->env.items : nothing,
        .fds = given,
        .n_fds = n,
        .uid = uid,
        .gid = uid,
        .group = true,
        .death_signal = SIGKILL,
    };
    good = good && laz_spawner_spawn(spawner, &spawn, process, err) == 0;
    while (n > data)
        laz_os_close(&given[--n].parent);
    for (int i = 0; i < 3; i++)
        laz_os_close(&ends[i]);
    return good;
}

bool backends_run(const struct laz_plan *plan, uint32_t uid, struct backends_run *run)
{
    struct laz_spawner *spawner = NULL;
    struct laz_process process = LAZ_PROCESS_INIT;
    struct laz_buf *bufs[3] = {&run->out, &run->errs, &run->documents};
    struct laz_error err = {0};
    int fds[3] = {-1, -1, -1};
    char *program = NULL;

    memset(run, 0, sizeof *run);
    bool good = laz_os_find_program(plan->argv.items[0], &program, &err) == 0 &&
                laz_spawner_new(&spawner, &err) == 0 &&
                run_start(spawner, plan, uid, program, fds, &process, &err);
    if (!good) {
        printf("\n    %s\n", err.text);
    } else {
        good = run_listen(fds, bufs) && laz_process_wait(&process, RUN_MS, &run->how);
        if (!good)
            printf("\n    the box did not end in time\n");
        laz_process_signal_group(&process, SIGKILL);
    }
    laz_process_close(&process);
    laz_spawner_free(spawner);
    free(program);
    for (int i = 0; i < 3; i++)
        laz_os_close(&fds[i]);
    return good;
}

void backends_run_fini(struct backends_run *run)
{
    laz_buf_fini(&run->out);
    laz_buf_fini(&run->errs);
    laz_buf_fini(&run->documents);
}
