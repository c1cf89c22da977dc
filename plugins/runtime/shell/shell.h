/* SPDX-License-Identifier: MIT */
/* shell.h - what the two halves of the shell runtime say to each other: shell.c in the agent, and
 * shell_inside.c in bash, its child.
 *
 * A socket joins them, in whole messages (SOCK_SEQPACKET), so that what code may write to its end
 * is discarded as a whole.  A request is a struct shell_request, then its texts in pieces; a report
 * is a struct shell_report.  Both halves are one object, so there are no versions. */
#ifndef LAZ_SHELL_H
#define LAZ_SHELL_H

#include <signal.h>
#include <stdint.h>

#define SHELL_PIECE   ((size_t)64 << 10) /* bytes of the texts in one message, at most */
#define SHELL_MESSAGE 2000               /* bytes of what a report says */

/* Interrupts the execution whose number it carries. */
#define SHELL_INTERRUPT     (SIGRTMAX - 2)
#define SHELL_NUMBER(nonce) ((int)((nonce)&0x7fffffff))

enum shell_kind {
    SHELL_RUN,   /* run the code, and report its status */
    SHELL_LAST,  /* run it as the last: the shell exits with its status in place of a report */
    SHELL_CHECK, /* only parse it, and report what is wrong */
};

/* The texts behind it, each with a NUL: the code; the directory to go to, or ""; the file that is
 * standard input of this code alone, or ""; then `n_words`: the name of the file and its arguments,
 * if the code is that of a file. */
struct shell_request {
    uint64_t nonce; /* what the report has to repeat */
    uint64_t size;  /* bytes of all texts */
    uint32_t kind;
    uint32_t n_words;
};

/* The first report of a shell has nonce 0, and `message` says why it cannot serve, or "". */
struct shell_report {
    uint64_t nonce;
    int32_t status;
    char message[SHELL_MESSAGE]; /* NUL-terminated */
};

#endif
