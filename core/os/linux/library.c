/* SPDX-License-Identifier: MIT */
/* library.c - what the loader knows of libraries.  System: Linux.
 *
 * ld.so.cache(5) is a table with the names of libraries and their paths as texts that end with NUL.
 * Only the texts are looked at, which all of its forms have in common. */
#include "config.h"
#include "os/library.h"

#include "base/buf.h"
#include "os/files.h"

#include <stdlib.h>
#include <string.h>

#define LIBRARY_LIST ((size_t)16 << 20) /* bytes of the list that is read */

bool laz_library_is_listed(const char *name)
{
    char *end = laz_strdupf("/%s", name);
    const size_t len = end ? strlen(end) + 1 : 0; /* with its NUL */
    struct laz_buf list = LAZ_BUF_INIT;
    struct laz_look look;
    bool is_listed = false;

    if (end && laz_os_read_file("/etc/ld.so.cache", LIBRARY_LIST, &list, NULL) == 0)
        for (const char *at = list.data, *stop = list.data + list.len;
             !is_listed && at && (at = memmem(at, (size_t)(stop - at), end, len)); at += len) {
            const char *path = at;
            while (path > list.data && path[-1])
                path--;
            is_listed = *path == '/' && laz_os_look(path, true, &look) == 0;
        }
    laz_buf_fini(&list);
    free(end);
    return is_listed;
}
