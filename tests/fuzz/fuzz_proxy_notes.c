/* SPDX-License-Identifier: MIT */
/* fuzz_proxy_notes.c - notes between lazaret-proxy and an engine, of any bytes. One that is read,
 * written anew and read again is the same, and none is read by the side that sends it. */
#include "base/buf.h"
#include "proxy/proxy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_side(const char *data, size_t size, bool to_proxy)
{
    struct laz_buf line = LAZ_BUF_INIT, again = LAZ_BUF_INIT;
    struct proxy_note note, other;
    enum proxy_note_type type, second;

    if (proxy_note_parse(data, size, to_proxy, &type, &note, NULL) == 0) {
        if ((type >= PROXY_CREDENTIAL) != to_proxy || type >= PROXY_NOTE_TYPES)
            abort();
        proxy_note_make(type, &note, &line);
        if (proxy_note_parse(line.data, line.len, !to_proxy, &second, &other, NULL) == 0)
            abort();
        proxy_note_fini(second, &other);
        if (proxy_note_parse(line.data, line.len, to_proxy, &second, &other, NULL) != 0 ||
            second != type || other.credential != note.credential ||
            other.connection != note.connection || other.text_len != note.text_len ||
            other.methods.n != note.methods.n || other.credentials.n != note.credentials.n)
            abort();
        proxy_note_make(second, &other, &again);
        if (again.len != line.len || memcmp(again.data, line.data, line.len) != 0)
            abort();
        proxy_note_fini(second, &other);
    }
    proxy_note_fini(type, &note);
    laz_buf_fini(&line);
    laz_buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_side((const char *)data, size, true);
    fuzz_side((const char *)data, size, false);
    return 0;
}
