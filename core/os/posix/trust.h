/* SPDX-License-Identifier: MIT */
/* trust.h - what the rule for trusted files (os/trust.h) asks of Linux and macOS. */
#ifndef LAZ_OS_POSIX_TRUST_H
#define LAZ_OS_POSIX_TRUST_H

#include <stdbool.h>
#include <stdint.h>

/* A descriptor of a directory, to look at what is below it; never through a link. -1: errno. */
int laz_posix_enter(int parent, const char *name);
/* May other users write it by an access list, whose rights the mode shows as the group's? True also
 * when that is not known. */
bool laz_posix_has_acl(int parent, const char *name);
/* A group whose members may do what root may. */
bool laz_posix_is_root_group(uint32_t gid);

#endif
