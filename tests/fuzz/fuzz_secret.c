/* SPDX-License-Identifier: MIT */
/* fuzz_secret.c - a JSON text, made of any bytes, into which secrets are put: what was JSON stays
 * JSON, what is not a placeholder stays as it is, and no value is left after it was hidden. */
#include "base/json.h"
#include "secret/secret.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int give(void *user, const struct laz_strv *command, struct laz_buf *out,
                struct laz_error *err)
{
    (void)user, (void)err;
    laz_buf_puts(out, command->items[1]);
    return 0;
}

static const char value[] = "a\"b\\c-value";

static void check_filled(struct laz_secrets *secrets, const char *json, size_t len)
{
    const bool was_json = !laz_json_scan(json, len, NULL);
    const struct laz_secret *read; /* what was not read is not looked for */
    struct laz_secret filled;
    size_t n = 0;

    if (laz_secrets_value(secrets, "x", 1, &read, NULL))
        abort();
    int rc = laz_secrets_fill(secrets, json, len, &filled, &n, NULL);
    if (rc)
        return;
    if (n == 0 && (filled.len != len || (len && memcmp(filled.data, json, len) != 0)))
        abort();
    if (was_json && laz_json_scan(filled.data, filled.len, NULL))
        abort();
    laz_secrets_hide(secrets, filled.data, filled.len);
    for (size_t i = 0; i + sizeof value - 1 <= filled.len; i++)
        if (memcmp(filled.data + i, value, sizeof value - 1) == 0)
            abort();
    laz_secret_fini(&filled);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct laz_secret_runner runner = {.run = give};
    struct laz_settings *settings = NULL;
    struct laz_secret_source source;
    struct laz_secrets secrets;

    if (laz_secret_source_parse((const char *)data, size, NULL, &source, NULL) == 0)
        laz_secret_source_fini(&source);
    if (laz_settings_new(&settings, NULL) != 0)
        return 0;
    if (laz_settings_set(settings, "secrets.x.command", "[\"/x\", \"a\\\"b\\\\c-value\"]", NULL) ==
            0 &&
        laz_secrets_init(&secrets, laz_settings_values(settings), &runner, NULL) == 0) {
        check_filled(&secrets, (const char *)data, size);
        laz_secrets_fini(&secrets);
    }
    laz_settings_free(settings);
    return 0;
}
