/* SPDX-License-Identifier: MIT */
/* system.c - what the loader and interpreters need to find of this system.  System: macOS.
 *
 * The usual places of a Mac (core/os/default_paths.c), as far as they are there. */
#include "os/system.h"

#include "os/default_paths.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysctl.h>

struct system_look {
    void (*visit)(void *user, uint32_t kind, const char *host, const char *box);
    void *user;
};

static void system_visit(void *user, uint32_t kind, const char *host, const char *box)
{
    const struct system_look *look = user;
    struct stat st;

    if (stat(box, &st) == 0)
        look->visit(look->user, kind, host, box);
}

void laz_os_system_paths(bool programs,
                         void (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user)
{
    struct system_look look = {visit, user};

    laz_os_usual_paths(laz_os_platform(), programs, system_visit, &look);
}

const char *laz_os_platform(void)
{
    return "darwin";
}

/* There is no place of files that could be another for a test: `root` other than "" has no facts.
 */
void laz_os_facts(const char *root, struct laz_buf *facts)
{
    static const char *const texts[] = {"kern.osproductversion", "kern.osversion",
                                        "kern.osrelease"};
    static const char *const numbers[] = {"kern.hv_vmm_present", "sysctl.proc_translated"};
    char text[128];

    if (root[0])
        return;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t size = sizeof text - 1;
        if (sysctlbyname(texts[i], text, &size, NULL, 0) != 0)
            continue;
        text[size] = '\0';
        laz_buf_printf(facts, "%s=%.*s\n", texts[i], (int)strcspn(text, "\n"), text);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        int number = 0;
        size_t size = sizeof number;
        if (sysctlbyname(numbers[i], &number, &size, NULL, 0) == 0 && size == sizeof number)
            laz_buf_printf(facts, "%s=%d\n", numbers[i], number);
    }
}
