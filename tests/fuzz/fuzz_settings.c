/* SPDX-License-Identifier: MIT */
/* fuzz_settings.c - `--set KEY=VALUE` with any bytes: a key and a value of each kind (sizes, times,
 * lists, tables, numbers, limits). An accepted value is in the settings and can be copied; a
 * rejected one has a reason in one line of UTF-8 and changes nothing. */
#include "base/utf8.h"
#include "settings/settings.h"

#include <lazaret/lazaret.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Keys of every kind of value; the input selects one. */
static const char *const keys[] = {
    "session.timeout",  "session.max_output_size",
    "session.validate", "session.runtime",
    "limits.memory",    "limits.nproc",
    "sandbox.backend",  "sandbox.read",
    "sandbox.require",  "sandbox.uids",
    "env.set",          "env.allow",
    "sandbox.programs", "tools",
    "runtime.r",        "session.pre_execute_hook",
    "network.allow",    "network.host.ports",
    "network.hosts",    "network.resolver",
};

static void check_one(const char *key, const char *value)
{
    struct laz_settings *settings = NULL, *copy = NULL;
    struct laz_error err = {0};

    if (laz_settings_new(&settings, NULL))
        return;
    const struct laz_settings_values before = *laz_settings_values(settings);
    if (laz_settings_set(settings, key, value, &err)) {
        const struct laz_settings_values *after = laz_settings_values(settings);
        if (!*err.text || strchr(err.text, '\n') || !laz_utf8_is_valid(err.text, strlen(err.text)))
            abort();
        if (after->limits.memory_bytes != before.limits.memory_bytes ||
            after->limits.nproc != before.limits.nproc ||
            after->session.timeout_ms != before.session.timeout_ms ||
            after->sandbox.strict != before.sandbox.strict)
            abort();
    } else if (laz_settings_copy(settings, &copy, NULL) == 0) {
        if (laz_settings_values(copy)->limits.memory_bytes !=
            laz_settings_values(settings)->limits.memory_bytes)
            abort();
    }
    laz_settings_free(copy);
    laz_settings_free(settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (size)
        check_one(keys[data[0] % (sizeof keys / sizeof *keys)], text + 1);
    char *value = strchr(text, '=');
    if (value) {
        *value = '\0';
        check_one(text, value + 1);
    }
    free(text);
    return 0;
}
