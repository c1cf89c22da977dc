/* SPDX-License-Identifier: MIT */
/* child.c - starts this program again as a child that does one thing. */
#include "child.h"

#include "base/clock.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/process.h"
#include "os/spawner.h"

#include <stdio.h>
#include <string.h>
#include <windows.h>

#define CHILD_MS    30000
#define CHILD_WORDS 8

static struct laz_spawner *child_spawner;

static const char *child_program(void)
{
    static char path[MAX_PATH * 3];
    wchar_t wide[MAX_PATH];

    GetModuleFileNameW(NULL, wide, MAX_PATH);
    WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, sizeof path, NULL, NULL);
    return path;
}

bool child_start(struct child *child, const char *const *words, const char *const *env)
{
    static const char *const least[] = {"SystemRoot=C:\\windows", NULL};
    const char *argv[CHILD_WORDS + 2] = {child_program()};
    struct laz_error err = {0};
    int out = -1;

    for (size_t i = 0; i < CHILD_WORDS && words[i]; i++)
        argv[i + 1] = words[i];
    child->process = LAZ_PROCESS_INIT;
    child->output = -1;
    if (!child_spawner)
        laz_spawner_new(&child_spawner, NULL);
    int rc = laz_os_cloexec_pipe(&child->output, &out, &err);
    const struct laz_spawn_fd fds[] = {{out, 1}, {child->input > 0 ? child->input : -1, 0}};
    const struct laz_spawn spawn = {
        .argv = argv,
        .env = env ? env : least,
        .fds = fds,
        .n_fds = sizeof fds / sizeof *fds,
        .uid = LAZ_SPAWN_SAME_ID,
        .gid = LAZ_SPAWN_SAME_ID,
        .group = true,
        .job = &child->limits,
        .job_missing = &child->missing,
    };
    if (!rc)
        rc = laz_spawner_spawn(child_spawner, &spawn, &child->process, &err);
    laz_os_close(&out);
    if (child->input > 0)
        laz_os_close(&child->input);
    if (rc) {
        printf("\n    %s\n", err.text);
        if (CU_get_current_test()) /* children start children too */
            CU_FAIL("a child was not started");
        laz_os_close(&child->output);
    }
    return rc == 0;
}

/* Appends output up to the end, or with `line`, up to a whole line. */
static const char *child_read(struct child *child, bool line)
{
    static char text[65536];
    size_t len = 0;
    uint64_t until = laz_clock_ms() + CHILD_MS;

    while (len + 1 < sizeof text) {
        uint64_t now = laz_clock_ms();
        if (now >= until || !laz_os_await(child->output, until - now))
            break;
        ssize_t n = laz_os_read(child->output, text + len, line ? 1 : sizeof text - 1 - len);
        if (n < 0 || (line && n > 0 && text[len] == '\n'))
            break;
        len += (size_t)n;
    }
    while (line && len && text[len - 1] == '\r')
        len--;
    text[len] = '\0';
    return text;
}

const char *child_ended(struct child *child, struct laz_exit *how)
{
    const char *text = child_read(child, false);

    CU_ASSERT(laz_process_wait(&child->process, CHILD_MS, how));
    return text;
}

const char *child_line(struct child *child)
{
    return child_read(child, true);
}

void child_close(struct child *child)
{
    laz_process_close(&child->process);
    laz_os_close(&child->output);
}

bool child_in_wine(void)
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL;
}

bool child_skip_in_wine(const char *what)
{
    return child_in_wine() && unit_skip("windows", what);
}
