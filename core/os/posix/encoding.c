/* SPDX-License-Identifier: MIT */
/* encoding.c - text in another encoding than UTF-8.  System: POSIX. */
#include "os/encoding.h"

#include <errno.h>
#include <iconv.h>

#define ENCODING_ROOM 4096 /* bytes that are made at once, at least */

bool laz_os_to_utf8(const char *encoding, const char *text, size_t len, struct laz_buf *to)
{
    iconv_t table = iconv_open("UTF-8", encoding);
    char *from = (char *)(uintptr_t)text;
    size_t failed = 0;

    if (table == (iconv_t)-1)
        return false;
    do {
        if (!laz_buf_reserve(to, ENCODING_ROOM))
            break;
        char *at = to->data + to->len;
        size_t room = ENCODING_ROOM;
        failed =
            iconv(table, len ? &from : NULL, &len, &at, &room); /* at the end: its last state */
        to->len += ENCODING_ROOM - room;
        to->data[to->len] = '\0';
    } while (len && (failed != (size_t)-1 || errno == E2BIG));
    (void)iconv_close(table);
    return !len && failed != (size_t)-1 && !to->failed;
}
