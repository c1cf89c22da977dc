/* SPDX-License-Identifier: MIT */
/* signals.h - the signal that interrupts an execution.  System: Linux. */
#ifndef LAZ_OS_LINUX_SIGNALS_H
#define LAZ_OS_LINUX_SIGNALS_H

#include <signal.h>

/* A real-time signal carries a number (sigqueue(3)). This one is the last but two: the C library
 * takes the first ones, and programs that count do so from the first or from the last. */
#define LINUX_INTERRUPT (SIGRTMAX - 2)

#endif
