/* SPDX-License-Identifier: MIT */
/* signals.h - the numbers and names of signals, also for systems that have none.
 *
 * The end of a process is reported by the number of a signal, and requested by it.  Where
 * <signal.h> does not define one, it is a number only, that of Linux. */
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

/* The description of a signal; borrowed until the thread calls it again. */
const char *laz_os_signal_words(int signal);

#endif
