/* SPDX-License-Identifier: MIT */
/* options.h.c - around the example in the head comment of lazaret/options.h. */
#include <lazaret/options.h>
#include <lazaret/tool.h>
#include <stdio.h>

static int create(const struct laz_tool_services *services, const char *options,
                  size_t options_len, struct laz_error *err)
{
EXAMPLE
    return rc;
}

int (*const made)(const struct laz_tool_services *, const char *, size_t,
                  struct laz_error *) = create;

int main(void)
{
    return 0;
}
