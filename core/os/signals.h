/* SPDX-License-Identifier: MIT */
/* signals.h - the numbers of signals, also for systems that have none.
 *
 * How a process ended is told by the number of a signal, and what ends one is asked for by it.
 * Where <signal.h> does not know them they are numbers only, those of Linux. */
#ifndef LAZ_OS_SIGNALS_H
#define LAZ_OS_SIGNALS_H

#include <signal.h>

#ifndef SIGKILL
#define SIGKILL 9
#endif
#ifndef SIGXCPU
#define SIGXCPU 24
#endif
#ifndef SIGXFSZ
#define SIGXFSZ 25
#endif

#endif
