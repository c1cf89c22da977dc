/* SPDX-License-Identifier: MIT */
/* cgroup_files.h - the files of a control group: reading, writing, and killing what is in it. */
#ifndef LAZ_OS_LINUX_CGROUP_FILES_H
#define LAZ_OS_LINUX_CGROUP_FILES_H

#include <stdbool.h>
#include <stddef.h>

#define CGROUP_FOLDER_MAX 4096

/* Opens a file of a group: a descriptor, or -1. */
int cgroup_file(const char *folder, const char *file, int flags);
/* Writes a text to a file of a group: the kernel's answer as an errno; 0: accepted. */
int cgroup_write(const char *folder, const char *file, const char *text);
/* The text of an open file, at most `size` - 1 bytes, "" when there is none; false: an error. */
bool cgroup_pread(int fd, char *text, size_t size);
/* The same for a file of a group. */
bool cgroup_read(const char *folder, const char *file, char *text, size_t size);
/* Kills all that is in a group. True when nothing is left. */
bool cgroup_kill_all(const char *folder, int version);

#endif
