/* SPDX-License-Identifier: MIT */
/* glob.c - matches a text with a pattern.
 *
 * fnmatch(3) is not used: it needs a text that ends with NUL and is valid in the locale, a text of
 * untrusted code may be neither, and Windows lacks it.
 * Side: host.  Input trusted: the pattern; not the text. */
#include "base/glob.h"

#include "base/utf8.h"

/* Length of the character at the beginning of a text that is not empty. */
static size_t glob_step(const char *text, size_t len)
{
    const size_t n = laz_utf8_length(text[0]);

    return n && n <= len ? n : 1;
}

bool laz_glob(const char *pattern, const char *text, size_t len)
{
    const char *star = NULL; /* behind the last '*': what comes there matches at `from` or later */
    size_t at = 0, from = 0;

    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            from = at;
        } else if (at < len && (*pattern == '?' || (*pattern && *pattern == text[at]))) {
            at += *pattern == '?' ? glob_step(text + at, len - at) : 1;
            pattern++;
        } else if (!*pattern && at == len) {
            return true;
        } else if (star && from < len) {
            from += glob_step(text + from, len - from);
            at = from;
            pattern = star;
        } else {
            return false;
        }
    }
}
