/* SPDX-License-Identifier: MIT */
/* nosymbol.c - a shared object that is not a plugin: it does not export lazaret_plugin. */
#include <lazaret/error.h>

LAZ_EXPORT int mock_is_no_plugin(void);

int mock_is_no_plugin(void)
{
    return 1;
}
