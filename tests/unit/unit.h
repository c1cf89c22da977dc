/* SPDX-License-Identifier: MIT */
/* unit.h - a unit test program: a table of named functions, run by CUnit.
 *
 *     static void buf_append_keeps_bytes(void) { ... CU_ASSERT(...) ... }
 *     static const struct unit_test tests[] = {UNIT(buf_append_keeps_bytes), {0}};
 *     int main(void) { return unit_run("base", tests); }
 *
 * Names say the rule that is tested. Exit status 0 when every assertion held. */
#ifndef LAZ_TESTS_UNIT_H
#define LAZ_TESTS_UNIT_H

#include <CUnit/CUnit.h>

#include <stdbool.h>

struct unit_test {
    const char *name;
    void (*run)(void);
};

#define UNIT(function) {#function, function}

/* Time limit for events that have to happen on a machine of any load: only a hang takes so long. */
#define UNIT_HANG_MS 600000

int unit_run(const char *suite, const struct unit_test *tests);

/* CU_ASSERT_STRING_EQUAL that prints both texts when they differ. */
#define UNIT_TEXT(actual, expected) unit_text(actual, expected, __FILE__, __LINE__)
void unit_text(const char *actual, const char *expected, const char *file, unsigned line);

/* Skips a test that needs `name` ("bwrap", "r", ...): prints a line and returns true; the test then
 * returns. It is a failure if LAZARET_TEST_NEED (comma separated, or "all") lists it. `reason` says
 * what is missing. */
int unit_skip(const char *name, const char *reason);
/* Does LAZARET_TEST_NEED list it ("all,-root": all but root)? For programs that are not run by
 * unit_run. */
bool unit_is_needed(const char *name);

/* The absolute path of a file of the source, of a file of the build: `path` is relative. Paths are
 * determined while a test runs, because source and build may have been copied after compilation.
 * The caller frees the text. */
char *unit_source(const char *path);
char *unit_built(const char *path);

#endif
