/* SPDX-License-Identifier: MIT */
/* signals.c - the descriptions of signals.  System: POSIX. */
#include "os/signals.h"

#include <string.h>

const char *laz_os_signal_words(int signal)
{
    return strsignal(signal);
}
