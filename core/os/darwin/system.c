/* SPDX-License-Identifier: MIT */
/* system.c - the paths that the loader and interpreters need, and facts about this system.
 * System: macOS.
 *
 * The paths are the default ones of a Mac (core/os/system_paths.c), as far as they exist.  The
 * facts have the names of sysctl(3): its version, whether it runs in a virtual machine, and whether
 * this program is translated for another processor.  Nothing depends on them. */
#include "os/system.h"

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

void laz_os_system_paths(bool programs, bool network,
                         void (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user)
{
    struct system_look look = {visit, user};

    (void)network; /* no backend of this system keeps a network list */
    laz_os_usual_paths(laz_os_platform(), programs, system_visit, &look);
}

const char *laz_os_platform(void)
{
    return "darwin";
}

/* The facts are not in files that a test could replace: with a `root` other than "" there are none.
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
