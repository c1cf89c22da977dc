/* SPDX-License-Identifier: MIT */
/* files.h - calls of Windows for a path in lazaret's form. */
#ifndef LAZ_OS_WINDOWS_FILES_H
#define LAZ_OS_WINDOWS_FILES_H

#include "os/windows/text.h"

/* Calls `call` once with the path as Windows wants it. */
bool laz_windows_with(const char *path, BOOL(WINAPI *call)(LPCWSTR));
/* CreateFileW(); INVALID_HANDLE_VALUE, with the system's last error. */
HANDLE laz_windows_create(const char *path, DWORD access, DWORD share, DWORD how, DWORD flags);
/* Opens a file or directory that exists, and lets others do anything with it. */
HANDLE laz_windows_open(const char *path, DWORD access, DWORD flags);
bool laz_windows_exists(const char *path);

#endif
