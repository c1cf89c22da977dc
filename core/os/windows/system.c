/* SPDX-License-Identifier: MIT */
/* system.c - facts about this system.  System: Windows. */
#include "os/system.h"

#include "os/users.h"
#include "os/windows/text.h"

#include <stdio.h>
#include <stdlib.h>

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

/* GetVersionEx reports an older release to a program whose manifest does not name this one. */
static void system_release(char *text, size_t size)
{
    LONG (*get)
    (OSVERSIONINFOW *) = (LONG(*)(OSVERSIONINFOW *))(void *)GetProcAddress(
        GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion");
    OSVERSIONINFOW found = {.dwOSVersionInfoSize = sizeof found};

    if (get && get(&found) == 0)
        snprintf(text, size, "%lu.%lu.%lu", (unsigned long)found.dwMajorVersion,
                 (unsigned long)found.dwMinorVersion, (unsigned long)found.dwBuildNumber);
}

void laz_os_kernel(struct laz_os_kernel *kernel)
{
    SYSTEM_INFO info;

    *kernel = (struct laz_os_kernel){.name = "Windows"};
    system_release(kernel->release, sizeof kernel->release);
    GetNativeSystemInfo(&info);
    snprintf(kernel->machine, sizeof kernel->machine, "%s",
             info.wProcessorArchitecture == PROCESSOR_ARCHITECTURE_AMD64   ? "x86_64"
             : info.wProcessorArchitecture == PROCESSOR_ARCHITECTURE_ARM64 ? "arm64"
                                                                           : "");
}

void laz_os_user(struct laz_os_user *user)
{
    wchar_t name[257]; /* UNLEN and the NUL */
    DWORD len = sizeof name / sizeof *name;

    *user = (struct laz_os_user){0};
    char *text = GetUserNameW(name, &len) ? laz_windows_narrow(name) : NULL;
    if (text)
        snprintf(user->name, sizeof user->name, "%.63s", text);
    free(text);
}
