/* SPDX-License-Identifier: MIT */
/* header.h - what the files of header.c share. C and C++. */
#ifndef LAZ_TESTS_HEADER_H
#define LAZ_TESTS_HEADER_H

#include <lazaret/lazaret.h>

/* Prints what does not hold, and counts it. */
void header_check(bool holds, const char *what, const char *file, int line);
#define CHECK(what) header_check((what), #what, __FILE__, __LINE__)

void header_none(struct laz_engine *engine);
void header_groups(void);

#endif
