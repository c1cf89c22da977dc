/* SPDX-License-Identifier: MIT */
/* fuzz_sixels.c - any bytes as what lazaret-picture has written: what is accepted has no byte of
 * another kind, and paints nothing outside of its raster. */
#include "picture/picture.h"

#include "sixels.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sixels painted;

    if (!picture_is_sixels((const char *)data, size))
        return 0;
    for (size_t i = 0; i < size; i++)
        must((data[i] >= '0' && data[i] <= '9') || (data[i] >= '?' && data[i] <= '~') ||
             (data[i] && strchr("\"#;!$-", data[i])));
    must(sixels_decode((const char *)data, size, &painted));
    must(painted.width <= PICTURE_WIDTH && painted.height <= PICTURE_HEIGHT);
    must(painted.right <= painted.width && painted.bottom <= painted.height);
    return 0;
}
