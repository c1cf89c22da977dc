/* SPDX-License-Identifier: MIT */
/* plugin.h.c - around the descriptor in the head comment of lazaret/plugin.h. */
#include <lazaret/tool.h>

static const struct laz_option options[] = {LAZ_OPTIONS_END};
static const struct laz_tool_ops ops = {.size = sizeof ops};

EXAMPLE

int main(void)
{
    return lazaret_plugin.ops != &ops;
}
