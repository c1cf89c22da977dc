/* SPDX-License-Identifier: MIT */
/* text.c - UTF-8 and UTF-16, paths, and texts of errors.  System: Windows. */
#include "os/windows/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_PATH_SHORT 236 /* MAX_PATH without the space for a name below a directory */

wchar_t *laz_windows_wide_n(const char *text, size_t len)
{
    if (len >= INT_MAX)
        return NULL;
    int n = len ? MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, (int)len, NULL, 0) : 0;
    if (len && n <= 0)
        return NULL;
    wchar_t *wide = calloc((size_t)n + 1, sizeof *wide);
    if (wide && len)
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, (int)len, wide, n);
    return wide;
}

wchar_t *laz_windows_wide(const char *text)
{
    return laz_windows_wide_n(text, strlen(text));
}

char *laz_windows_narrow(const wchar_t *text)
{
    int n = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *narrow = n > 0 ? calloc((size_t)n, 1) : NULL;

    if (narrow)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, n, NULL, NULL);
    return narrow;
}

static wchar_t *text_path(const char *path)
{
    wchar_t *wide = laz_windows_wide(path);

    for (wchar_t *c = wide; c && *c; c++)
        if (*c == L'/')
            *c = L'\\';
    return wide;
}

/* In this form the system does not resolve "." and "..", so that is done before. Takes `wide`. */
static wchar_t *text_long(wchar_t *wide)
{
    static const wchar_t prefix[] = L"\\\\?\\";
    const size_t len = sizeof prefix / sizeof *prefix - 1;

    if (!wide || !wide[0] || wide[1] != L':')
        return wide;
    DWORD room = GetFullPathNameW(wide, 0, NULL, NULL);
    wchar_t *path = room ? calloc(len + room, sizeof *path) : NULL;
    DWORD n = path ? GetFullPathNameW(wide, room, path + len, NULL) : 0;
    free(wide);
    if (n && n < room)
        return memcpy(path, prefix, len * sizeof *prefix);
    free(path);
    return NULL;
}

wchar_t *laz_windows_path(const char *path)
{
    wchar_t *wide = text_path(path);

    return wide && wcslen(wide) >= TEXT_PATH_SHORT ? text_long(wide) : wide;
}

wchar_t *laz_windows_long_path(const char *path)
{
    return text_long(text_path(path));
}

char *laz_windows_slashes(char *path)
{
    for (char *c = path; c && *c; c++)
        if (*c == '\\')
            *c = '/';
    return path;
}

/* System error codes of winerror.h on which a caller, or the kind of an error, depends. */
static const struct {
    DWORD code;
    int os_errno;
} text_errors[] = {
    {ERROR_FILE_NOT_FOUND, ENOENT},
    {ERROR_PATH_NOT_FOUND, ENOENT},
    {ERROR_INVALID_DRIVE, ENOENT},
    {ERROR_BAD_NETPATH, ENOENT},
    {ERROR_ACCESS_DENIED, EACCES},
    {ERROR_SHARING_VIOLATION, EBUSY},
    {ERROR_LOCK_VIOLATION, EBUSY},
    {ERROR_PIPE_BUSY, EBUSY},
    {ERROR_FILE_EXISTS, EEXIST},
    {ERROR_ALREADY_EXISTS, EEXIST},
    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    {ERROR_OUTOFMEMORY, ENOMEM},
    {ERROR_COMMITMENT_LIMIT, ENOMEM},
    {ERROR_NO_SYSTEM_RESOURCES, EAGAIN},
    {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    {ERROR_DISK_FULL, ENOSPC},
    {ERROR_HANDLE_DISK_FULL, ENOSPC},
    {ERROR_FILE_TOO_LARGE, EFBIG},
    {ERROR_BROKEN_PIPE, EPIPE},
    {ERROR_NO_DATA, EPIPE},
    {ERROR_PIPE_NOT_CONNECTED, EPIPE},
    {ERROR_OPERATION_ABORTED, ECANCELED},
    {ERROR_DIRECTORY, ENOTDIR},
    {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
    {ERROR_INVALID_NAME, EINVAL},
    {ERROR_INVALID_PARAMETER, EINVAL},
    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    {ERROR_BAD_EXE_FORMAT, ENOEXEC},
    {ERROR_CALL_NOT_IMPLEMENTED, ENOSYS},
    {ERROR_NOT_SUPPORTED, ENOSYS},
};

int laz_windows_errno(DWORD code)
{
    for (size_t i = 0; i < sizeof text_errors / sizeof *text_errors; i++)
        if (text_errors[i].code == code)
            return text_errors[i].os_errno;
    return EIO;
}

int laz_windows_fail(struct laz_error *err, const char *format, ...)
{
    DWORD code = GetLastError();
    char before[LAZ_ERROR_TEXT_SIZE];
    wchar_t words[256];
    va_list args;

    if (!err)
        return LAZ_EOS;
    va_start(args, format);
    vsnprintf(before, sizeof before, format, args);
    va_end(args);
    DWORD n = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, code,
                             0, words, sizeof words / sizeof *words, NULL);
    while (n && (words[n - 1] <= L' ' || words[n - 1] == L'.'))
        n--;
    words[n] = 0;
    char *said = laz_windows_narrow(words);
    laz_error_set(err, LAZ_EOS, laz_windows_errno(code), "%s: %s (Windows error %lu)", before,
                  said && *said ? said : "it failed", (unsigned long)code);
    free(said);
    return LAZ_EOS;
}
