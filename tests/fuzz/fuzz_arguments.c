/* SPDX-License-Identifier: MIT */
/* fuzz_arguments.c - arguments of a tool call, with any bytes: accepted arguments are one JSON
 * object of declared parameters that passes the check again unchanged; rejected ones have a reason
 * in one line of UTF-8, and write nothing to the output. */
#include "base/json.h"
#include "base/utf8.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct laz_tool tools[] = {
    {.size = sizeof(struct laz_tool),
     .name = "every",
     .parameters = "[{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"n\",\"type\":\"number\"},"
                   "{\"name\":\"i\",\"type\":\"integer\"},{\"name\":\"b\",\"type\":\"boolean\"},"
                   "{\"name\":\"a\",\"type\":\"array\"},{\"name\":\"o\",\"type\":\"object\"},"
                   "{\"name\":\"l\",\"type\":\"list\",\"required\":false},"
                   "{\"name\":\"d\",\"type\":\"data.frame\",\"required\":false},"
                   "{\"name\":\"e\",\"enum\":[1,\"two\",null],\"default\":\"two\"},"
                   "{\"name\":\"any\",\"required\":false}]"},
    {.size = sizeof(struct laz_tool),
     .name = "loose",
     .parameters =
         "[{\"name\":\"s\",\"required\":false},{\"name\":\"n\",\"default\":[1,{\"$num\":\"NaN\"}]},"
         "{\"name\":\"i\",\"type\":\"integer\",\"required\":false}]"},
    {.size = sizeof(struct laz_tool), .name = "none"},
};

static void check_tool(const struct laz_tool_entry *tool, const char *text, size_t len)
{
    struct laz_buf once = LAZ_BUF_INIT, twice = LAZ_BUF_INIT;
    struct laz_error err = {0};

    laz_buf_puts(&once, "x");
    int ret = laz_tool_check_arguments(tool, text, len, &once, &err);
    if (ret) {
        if (ret != LAZ_EINVAL || !*err.text || strchr(err.text, '\n') ||
            !laz_utf8_is_valid(err.text, strlen(err.text)) || strcmp(once.data, "x") != 0)
            abort();
    } else if (laz_json_scan(once.data + 1, once.len - 1, NULL) || once.data[1] != '{' ||
               laz_tool_check_arguments(tool, once.data + 1, once.len - 1, &twice, &err) ||
               strcmp(once.data + 1, twice.data) != 0) {
        abort();
    }
    laz_buf_fini(&once);
    laz_buf_fini(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct laz_tool_set set = {0};

    if (laz_json_scan((const char *)data, size, NULL))
        return 0;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (laz_tool_set_add(&set, &tools[i], NULL, NULL, i, NULL))
            abort();
    for (size_t i = 0; i < set.n; i++)
        check_tool(&set.entries[i], (const char *)data, size);
    laz_tool_set_fini(&set);
    return 0;
}
