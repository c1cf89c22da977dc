/* SPDX-License-Identifier: MIT */
/* fuzz_artifacts.c - parts of what an execution has made, as any bytes that an agent may send: the
 * limits hold whatever comes, a name that is accepted leads nowhere else, and what is whole in the
 * end has its form. */
#include "base/json_scan.h"
#include "base/path.h"
#include "base/utf8.h"
#include "session/artifacts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES 4
#define MAX_SIZE  64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

static void check_limits(const struct laz_artifacts *artifacts)
{
    uint64_t bytes = 0;

    must(artifacts->n <= MAX_FILES);
    for (size_t i = 0; i < artifacts->n; i++) {
        const char *name = artifacts->items[i].name;
        bytes += artifacts->items[i].data.len;
        must(name[0] != '/' && name[0] != '.' && !strstr(name, "/.") && !strstr(name, "//"));
        must(laz_utf8_is_valid(name, strlen(name)) && !strpbrk(name, "\n\r\t\033\\"));
    }
    must(bytes <= MAX_SIZE && bytes == artifacts->bytes);
    must(artifacts->value.len <= MAX_SIZE && artifacts->text.len <= MAX_SIZE);
}

static void check_whole(const struct laz_artifacts *artifacts)
{
    const struct laz_buf *value = &artifacts->value, *text = &artifacts->text;

    must(!value->len || laz_json_scan(value->data, value->len, NULL) == 0);
    must(!text->len || strlen(laz_buf_text(text)) == text->len);
}

/* One line. False: it is not a part, or the execution ends with it. */
static bool take(struct laz_artifacts *artifacts, const char *line, size_t len)
{
    struct laz_message message;
    const char *why = NULL;
    int rc = laz_message_parse(line, len, LAZ_WIRE_RUNNING, &message, NULL);

    if (!rc && message.type == LAZ_MESSAGE_PART)
        rc = laz_artifacts_take(artifacts, &message, MAX_FILES, MAX_SIZE, &why);
    else
        rc = LAZ_EINVAL;
    laz_message_fini(&message);
    must(rc != LAZ_EPROTO || why);
    check_limits(artifacts);
    return rc == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct laz_artifacts artifacts = {0};
    const char *at = (const char *)data, *const end = at + size, *newline, *why;
    bool goes_on = true;

    while (goes_on && at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
        goes_on = take(&artifacts, at, (size_t)(newline - at));
        at = newline + 1;
    }
    if (goes_on && laz_artifacts_finish(&artifacts, &why) == 0 &&
        laz_artifacts_check(&artifacts.value, &artifacts.text, &why) == 0)
        check_whole(&artifacts);
    must(laz_artifacts_settle(&artifacts, "protocol_error"));
    must(artifacts.n_lost <= 1);
    check_limits(&artifacts);
    for (size_t i = 0; i < artifacts.n; i++)
        must(artifacts.items[i].type && strlen(artifacts.items[i].sha256) == LAZ_SHA256_HEX);
    laz_artifacts_fini(&artifacts);
    return 0;
}
