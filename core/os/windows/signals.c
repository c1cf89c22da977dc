/* SPDX-License-Identifier: MIT */
/* signals.c - descriptions of the signals that stand for exit codes.  System: Windows. */
#include "os/signals.h"

const char *laz_os_signal_words(int signal)
{
    switch (signal) {
    case SIGKILL:
        return "Killed";
    case SIGXCPU:
        return "CPU time limit exceeded";
    case SIGSEGV:
        return "Access violation";
    case SIGFPE:
        return "Arithmetic exception";
    case SIGILL:
        return "Illegal instruction";
    case SIGABRT:
        return "Aborted";
    case SIGINT:
        return "Interrupted";
    default:
        return "Ended by the system";
    }
}
