/* SPDX-License-Identifier: MIT */
/* facts.c - what this system says of itself where a sandbox is refused.  System: macOS.
 *
 * Names are those of sysctl(3): its version, whether it runs in a virtual machine, and whether this
 * program is translated for another processor.  Nothing is decided by them. */
#include "os/os.h"

#include <stdint.h>
#include <string.h>
#include <sys/sysctl.h>

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
