/* SPDX-License-Identifier: MIT */
/* main.c - lazaret-tool: under the name of a tool its command, else what carries their calls.
 * Side: box.  Input trusted: no. */
#include "command/command.h"

#include "os/streams.h"

#include <stdio.h>
#include <string.h>

#ifdef LAZ_SANITIZE
/* Its end frees and closes what there is. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

int main(int argc, char **argv)
{
    laz_os_raw_streams();
    if (argc >= 2 && strcmp(argv[1], "--carry") == 0 && strcmp(argv[0], "lazaret-tool") == 0)
        return command_carry(argc - 2, argv + 2);
    return command_call(argc, argv);
}
