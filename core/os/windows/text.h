/* SPDX-License-Identifier: MIT */
/* text.h - UTF-16 text, paths and errors of Windows; includes <windows.h> for the files here.
 *
 * Text is UTF-8 with '/' between the parts of a path, in lazaret as on every system, and UTF-16 for
 * the calls of Windows. */
#ifndef LAZ_OS_WINDOWS_TEXT_H
#define LAZ_OS_WINDOWS_TEXT_H

#include "base/error.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

wchar_t *laz_windows_wide(const char *text); /* NULL: no memory, or no UTF-8 */
wchar_t *laz_windows_wide_n(const char *text, size_t len);
char *laz_windows_narrow(const wchar_t *text); /* '\\' stays; NULL: no memory */
/* A path, absolute and with '\\' between its parts, as the calls for files want it; one that is too
 * long for them (MAX_PATH) in the form that is not. And any path of a drive in that form, for what
 * lies below it. */
wchar_t *laz_windows_path(const char *path);
wchar_t *laz_windows_long_path(const char *path);
char *laz_windows_slashes(char *path); /* every '\\' becomes '/'; gives `path` */
int laz_windows_errno(DWORD code);     /* of <errno.h>; EIO: none that fits */
/* LAZ_EOS, with the system's text for its last error after ours. */
int laz_windows_fail(struct laz_error *err, const char *format, ...) LAZ_PRINTF(2, 3);

#endif
