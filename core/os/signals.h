/* SPDX-License-Identifier: MIT */
/* signals.h - the numbers and names of signals, also for systems that have none.
 *
 * The end of a process is reported by the number of a signal, and requested by it.  Where
 * <signal.h> does not define one, it is a number only, that of Linux. */
#ifndef LAZ_OS_SIGNALS_H
#define LAZ_OS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

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

/* From now on another process can interrupt this one (laz_os_pidfd_interrupt): `interrupted` is
 * called in a signal handler, and calls of the system that wait return EINTR. False: this system
 * has nothing of the kind. */
bool laz_os_on_interrupt(void (*interrupted)(uint32_t number));
/* The calling process, and those that it starts, get a process group of their own. */
void laz_os_lead_group(void);
/* If standard input is a terminal, it controls the calling process, and those that it starts: its
 * keys send them signals. */
void laz_os_take_terminal(void);
/* SIGINT to all processes of the group of the calling one, as from a terminal (termios(3)). Safe in
 * a signal handler. */
void laz_os_interrupt_group(void);
/* The same, but for the calling process. */
void laz_os_interrupt_others(void);
/* SIGINT does nothing to this process but interrupt its calls of the system, and call
 * `by_terminal`, in the signal handler, if a key has sent it (Linux); programs that it starts end
 * by it. */
void laz_os_bear_interrupts(void (*by_terminal)(void));

#endif
