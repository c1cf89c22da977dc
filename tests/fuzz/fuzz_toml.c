/* SPDX-License-Identifier: MIT */
/* fuzz_toml.c - the TOML reader on any bytes: no crash, and what it accepts it can write and read
 * again to the same text. */
#include "settings/toml/toml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const struct laz_toml *toml)
{
    struct laz_buf first = LAZ_BUF_INIT, second = LAZ_BUF_INIT;
    struct laz_toml *again = NULL;

    laz_toml_format(&first, toml->root);
    /* one level deeper: text at the depth limit is now too deep */
    int rc = laz_toml_parse_pair(NULL, laz_buf_text(&first), "again", &again, NULL);
    if (rc == 0) {
        laz_toml_format(&second, laz_toml_get(again->root, "value"));
        if (strcmp(laz_buf_text(&first), laz_buf_text(&second)) != 0)
            abort();
    } else if (rc == LAZ_EPARSE && !strstr(again->problems[0].text, "nested")) {
        abort();
    }
    laz_toml_free(again);
    laz_buf_fini(&first);
    laz_buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct laz_toml *toml = NULL;
    struct laz_error err;
    int rc = laz_toml_parse((const char *)data, size, "f", &toml, &err);

    if (rc == 0)
        check_round_trip(toml);
    else if (rc == LAZ_EPARSE && (!toml || !toml->n_problems || !toml->problems[0].line))
        abort(); /* rejected without a reason */
    laz_toml_free(toml);
    return 0;
}
