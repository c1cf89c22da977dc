/* SPDX-License-Identifier: MIT */
/* enforce.h - the table of what a backend can enforce and a policy can require.
 *
 * One row a bit of LAZ_ENFORCE_*, in the order of the bits.  The words of sandbox.require and its
 * help are made from it, and the lists that plans, `lazaret doctor` and messages show. */
#ifndef LAZ_BASE_ENFORCE_H
#define LAZ_BASE_ENFORCE_H

#include <lazaret/backend.h>

#include <stdint.h>

struct laz_json_write;

/* ROW(LAZ_ENFORCE_*, word), with AND between the rows. */
/* clang-format off */
#define LAZ_ENFORCE_WORDS(ROW, AND) \
    ROW(LAZ_ENFORCE_FS_READ, "fs_read") AND \
    ROW(LAZ_ENFORCE_FS_WRITE, "fs_write") AND \
    ROW(LAZ_ENFORCE_NETWORK, "network") AND \
    ROW(LAZ_ENFORCE_PROCESSES, "processes") AND \
    ROW(LAZ_ENFORCE_SYSCALLS, "syscalls") AND \
    ROW(LAZ_ENFORCE_CPU, "cpu") AND \
    ROW(LAZ_ENFORCE_MEMORY, "memory") AND \
    ROW(LAZ_ENFORCE_FSIZE, "fsize") AND \
    ROW(LAZ_ENFORCE_NPROC, "nproc") AND \
    ROW(LAZ_ENFORCE_NOFILE, "nofile") AND \
    ROW(LAZ_ENFORCE_SIGNALS, "signals") AND \
    ROW(LAZ_ENFORCE_TERMINALS, "terminals")
/* clang-format on */

/* Name of one bit of LAZ_ENFORCE_* ("fs_read"); NULL for anything else. Static text. */
const char *laz_enforce_name(uint32_t bit);
/* The bit of a name; 0: no such name. */
uint32_t laz_enforce_bit(const char *name);
/* Adds a list of the names of these bits. */
void laz_enforce_json(struct laz_json_write *write, const char *key, uint32_t bits);

#endif
