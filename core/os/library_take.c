/* SPDX-License-Identifier: MIT */
/* library_take.c - a library that few need is loaded when somebody does: its functions by name. */
#include "os/library.h"

#include <string.h>

int laz_library_take(const char *path, const char *what, const struct laz_library_row *rows,
                     size_t n, void *functions, struct laz_error *err)
{
    const char *words = NULL;
    void *library = laz_library_open(path, false, &words);

    if (!library)
        return laz_error_set(err, LAZ_EOS, 0, "%s cannot be loaded: %s", what, words);
    for (size_t i = 0; i < n; i++) {
        void (*function)(void) = laz_library_function(library, rows[i].name);
        if (!function) {
            laz_library_close(library);
            return laz_error_set(err, LAZ_EOS, 0, "%s: %s has no function %s", what, path,
                                 rows[i].name);
        }
        memcpy((char *)functions + rows[i].offset, &function, sizeof function);
    }
    return 0;
}
