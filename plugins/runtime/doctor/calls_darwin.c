/* SPDX-License-Identifier: MIT */
/* calls_darwin.c - makes system calls that code of a model does not need, and looks at other
 * processes. System: macOS.
 *
 * Of the calls tried on Linux only socket(2) exists here and may be used. Command lines come from
 * sysctl(3), KERN_PROCARGS2. */
#include "acts.h"

#include <errno.h>
#include <libproc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <sys/types.h>
#include <unistd.h>

#define CALLS_PROCESSES 16384
#define CALLS_LINE      4096

/* Knows only "socket inet". */
int doctor_call(const char *name)
{
    if (strcmp(name, "socket inet") != 0)
        return -1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

int64_t doctor_see(const char *text, int *failed)
{
    pid_t *all = calloc(CALLS_PROCESSES, sizeof *all);
    int64_t seen = 0;

    if (!all) {
        *failed = errno;
        return 0;
    }
    int bytes = proc_listpids(PROC_ALL_PIDS, 0, all, (int)(CALLS_PROCESSES * sizeof *all));
    if (bytes <= 0)
        *failed = errno;
    for (int i = 0; i < bytes / (int)sizeof *all; i++) {
        char line[CALLS_LINE];
        int name[] = {CTL_KERN, KERN_PROCARGS2, all[i]};
        size_t size = sizeof line;
        if (sysctl(name, 3, line, &size, NULL, 0) == 0 && memmem(line, size, text, strlen(text)))
            seen++;
    }
    free(all);
    return seen;
}
