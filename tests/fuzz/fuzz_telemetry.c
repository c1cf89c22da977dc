/* SPDX-License-Identifier: MIT */
/* fuzz_telemetry.c - what a collector of traces answers, and who asks for counters, on any bytes:
 * no more spans are rejected than were sent, and a name of another machine is not taken for this
 * one. */
#include "base/place.h"
#include "telemetry/spans_private.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    must(spans_rejected(text, size, 7) <= 7);
    must(!laz_place_is_local(text) || text[0] == '[' || text[0] == '1' || text[0] == 'l' ||
         text[0] == 'L');
    free(text);
    return 0;
}
