/* SPDX-License-Identifier: MIT */
/* process.h - the exit code of processes that lazaret ends on Windows. */
#ifndef LAZ_OS_WINDOWS_PROCESS_H
#define LAZ_OS_WINDOWS_PROCESS_H

#define PROCESS_KILLED 0xC000FE09u /* Windows itself does not use this code */

#endif
