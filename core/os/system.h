/* SPDX-License-Identifier: MIT */
/* system.h - facts about this system: its name, its processors, and the paths that programs need.
 */
#ifndef LAZ_OS_SYSTEM_H
#define LAZ_OS_SYSTEM_H

#include "base/buf.h"

/* The name of this system as plans and backends use it: "linux", "darwin", "windows". */
const char *laz_os_platform(void);
unsigned laz_os_processors(void);        /* installed ones; at least 1 */
unsigned laz_os_usable_processors(void); /* that this process may use (taskset(1)); at least 1 */
/* What runs here, for people: "Linux", "6.1.0", "x86_64". A text is empty when it is not known. */
struct laz_os_kernel {
    char name[64], release[64], machine[64];
};
void laz_os_kernel(struct laz_os_kernel *kernel);
/* Appends facts that explain why the system refuses sandboxes, a line NAME=VALUE each: see struct
 * laz_backend_failure. `root` is put before every path: "" except in tests. */
void laz_os_facts(const char *root, struct laz_buf *facts);
/* Visits the paths that the loader and interpreters need: pairs for a policy, in order. `visit`
 * gets kind (LAZ_PATH_*), host text and box path. `network`: with those that configure names, TLS
 * and SSH. Linux: /usr with all `programs`, or the libraries
 * and data in it; /bin /sbin /lib /lib64 as links or directories, as on the host;
 * /etc/ld.so.cache, /etc/alternatives, /etc/localtime, certificates. */
void laz_os_system_paths(bool programs, bool network,
                         void (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user);
/* The same, for a system of that name and without accessing any. */
void laz_os_usual_paths(const char *platform, bool programs,
                        void (*visit)(void *user, uint32_t kind, const char *host, const char *box),
                        void *user);

#endif
