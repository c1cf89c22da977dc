/* SPDX-License-Identifier: MIT */
/* main.c - lazaret-gate: TLS in front of a server (--serve) or of a client (--connect).
 *
 * It is started by `lazaret serve` and is what `lazaret connect` becomes; people do not start it.
 */
#include "gate/gate_private.h"

#include "os/streams.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
} main_options[] = {
#define OPTION(name, field)                                                                        \
    {                                                                                              \
        name, offsetof(struct gate_options, field)                                                 \
    }
    OPTION("--certificate", certificate),
    OPTION("--key", key),
    OPTION("--authorities", authorities),
    OPTION("--revoked", revoked),
    OPTION("--keys", keys),
    OPTION("--audience", audience),
    OPTION("--token-file", token_file),
    OPTION("--name", name),
    OPTION("--host", host),
    OPTION("--sessions", sessions),
    OPTION("--cpu", cpu),
    OPTION("--bytes", bytes),
    OPTION("--requests", requests),
    OPTION("--connections", connections),
    OPTION("--of-one", of_one),
    OPTION("--handshake-ms", handshake_ms),
#undef OPTION
};

int main(int argc, char **argv)
{
    struct gate_options options = {.audience = "lazaret"};
    bool is_known = argc >= 2 && argc % 2 == 0;

    for (int i = 2; i + 1 < argc && is_known; i += 2) {
        is_known = false;
        for (size_t k = 0; k < sizeof main_options / sizeof *main_options; k++)
            if (strcmp(argv[i], main_options[k].name) == 0) {
                *(const char **)(void *)((char *)&options + main_options[k].at) = argv[i + 1];
                is_known = true;
            }
    }
    if (is_known && strcmp(argv[1], "--serve") == 0)
        return laz_os_secure_streams() ? gate_serve(&options) : 1;
    if (is_known && strcmp(argv[1], "--connect") == 0 && options.host)
        return laz_os_secure_streams() ? gate_connect(&options) : 1;
    fputs("lazaret-gate is a part of lazaret serve and lazaret connect.\n", stderr);
    return 2;
}
