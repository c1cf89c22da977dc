/* SPDX-License-Identifier: MIT */
/* unit.c - runs a table of CUnit tests. */
#include "unit.h"

#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the name one of this list, which has spaces between them? */
static bool unit_lists(const char *list, const char *name)
{
    const size_t len = strlen(name);
    bool is = false;

    for (const char *p = list ? list : ""; *p && !is; p += strcspn(p, " "), p += strspn(p, " "))
        is = strcspn(p, " ") == len && strncmp(p, name, len) == 0;
    return is;
}

int unit_run(const char *suite, const struct unit_test *tests)
{
    const char *only = getenv("UNIT_ONLY"); /* run one test by name */
    const char *except = getenv("UNIT_EXCEPT");

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite added = CU_add_suite(suite, NULL, NULL);
    for (; added && tests->name; tests++)
        if ((!only || strcmp(only, tests->name) == 0) && !unit_lists(except, tests->name))
            CU_add_test(added, tests->name, tests->run);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failed = CU_get_number_of_failures() + CU_get_number_of_tests_failed();
    unsigned ran = CU_get_number_of_tests_run();
    CU_cleanup_registry();
    return failed || !ran ? 1 : 0;
}

void unit_text(const char *actual, const char *expected, const char *file, unsigned line)
{
    bool same = actual && expected ? strcmp(actual, expected) == 0 : actual == expected;

    if (!same)
        printf("\n    %s:%u\n    expected: %s\n    actual:   %s\n", file, line,
               expected ? expected : "(null)", actual ? actual : "(null)");
    CU_assertImplementation(same, line, "texts are equal", file, "", CU_FALSE);
}

bool unit_is_needed(const char *name)
{
    const char *list = getenv("LAZARET_TEST_NEED");
    size_t len = strlen(name);
    bool needed = false;

    for (const char *p = list ? list : ""; *p;) {
        size_t n = strcspn(p, ",");
        if (n == len + 1 && *p == '-' && strncmp(p + 1, name, len) == 0)
            return false;
        if ((n == len && strncmp(p, name, len) == 0) || (n == 3 && strncmp(p, "all", 3) == 0))
            needed = true;
        p += n + (p[n] == ',');
    }
    return needed;
}

int unit_skip(const char *name, const char *reason)
{
    if (unit_is_needed(name)) {
        printf("\n    needed but missing: %s: %s\n", name, reason);
        CU_FAIL("something LAZARET_TEST_NEED lists is missing");
    } else {
        printf("\n    SKIP %s: %s\n", name, reason);
    }
    return 1;
}
