/* SPDX-License-Identifier: MIT */
/* programs.c - where programs are, and what the system executes for one.  System: macOS.
 *
 * The kernel maps the loader (dyld(1)) and never executes it: what is executed besides is the shell
 * behind sh(1), which /private/var/select/sh names. */
#include "os/posix/programs.h"

#include <string.h>
#include <unistd.h>

void laz_programs_loader(const char *path, int fd, const char *head, size_t n, char *text,
                         size_t size)
{
    ssize_t len = 0;

    (void)fd;
    (void)head;
    (void)n;
    if (strcmp(path, "/bin/sh") == 0)
        len = readlink("/private/var/select/sh", text, size - 1);
    text[len > 0 ? len : 0] = '\0';
}

const char *const laz_programs_directories[] = {
    "/usr/bin",
    "/usr/sbin",
    "/bin",
    "/sbin",
    "/usr/libexec",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/local/libexec",
    "/opt/homebrew/bin",
    "/opt/homebrew/sbin", /* Homebrew on Apple silicon */
    "/opt/local/bin",
    "/opt/local/sbin", /* MacPorts */
    NULL,
};

/* Directories in /opt/homebrew/Cellar, for example, are not visible in a box. */
const char *const laz_programs_among_libraries[] = {NULL};
