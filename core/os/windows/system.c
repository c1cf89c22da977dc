/* SPDX-License-Identifier: MIT */
/* system.c - facts about this system.  System: Windows. */
#include "os/system.h"

#include "os/windows/text.h"

#include <stdio.h>

const char *laz_os_platform(void)
{
    return "windows";
}

unsigned laz_os_processors(void)
{
    SYSTEM_INFO info;

    GetSystemInfo(&info);
    return info.dwNumberOfProcessors > 0 ? (unsigned)info.dwNumberOfProcessors : 1;
}

/* Some limits that Wine accepts it does not keep: this fact distinguishes it from Windows. */
void laz_os_facts(const char *root, struct laz_buf *facts)
{
    const char *(*wine)(void) = (const char *(*)(void))(void *)GetProcAddress(
        GetModuleHandleW(L"ntdll.dll"), "wine_get_version");

    (void)root;
    if (wine)
        laz_buf_printf(facts, "wine=%s\n", wine());
}
