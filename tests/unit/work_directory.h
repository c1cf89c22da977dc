/* SPDX-License-Identifier: MIT */
/* work_directory.h - a directory of its own for a test of plugins, with copies of those of
 * tests/mock.
 */
#ifndef LAZ_TESTS_WORK_DIRECTORY_H
#define LAZ_TESTS_WORK_DIRECTORY_H

#include "plugin/plugin.h"

#include <sys/types.h>

/* Asserts that `text` contains `part`, and prints both if not. */
#define ASSERT_HAS(text, part) assert_has((text), (part), __LINE__)
void assert_has(const char *text, const char *part, unsigned line);

extern char work[64]; /* its path, from work_begin to work_end, which removes it */
void work_begin(void);
void work_end(void);

/* The path of a plugin of tests/mock; valid until the 32nd later call of this thread. */
const char *mock(const char *name);
/* A path below the directory; valid until the sixteenth later call. */
const char *in_work(const char *name);
void write_file(const char *path, const void *data, size_t len, mode_t mode);
const char *copy_mock(const char *from, const char *to, mode_t mode);
const char *make_directory(const char *name, mode_t mode);
/* A registry whose settings name these directories. */
struct laz_registry *open_registry(const char *directory, const char *second);

#endif
