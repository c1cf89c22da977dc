/* SPDX-License-Identifier: MIT */
/* wake.h - a descriptor that becomes readable when another thread signals it. */
#ifndef LAZ_OS_WAKE_H
#define LAZ_OS_WAKE_H

/* A new descriptor, or -1. Closed with laz_os_close. */
int laz_os_wake_new(void);
/* Makes it readable until laz_os_wake_clear. Any thread, also a signal handler. */
void laz_os_wake(int fd);
void laz_os_wake_clear(int fd);

#endif
