/* SPDX-License-Identifier: MIT */
/* message.c - a line of the host, taken apart.
 * Side: box.  Input trusted: yes (the host).
 *
 * A value of many megabytes is only stepped over, and stays where it was read. */
#include "agent/agent.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool message_is(const struct laz_json_token *key, const char *name)
{
    return strcmp(key->text, name) == 0;
}

bool agent_message_parse(const char *line, size_t len, struct agent_message *m)
{
    const struct laz_json_api *json = laz_json_api();
    struct laz_json_reader *reader = json->reader_new(line, len);
    struct laz_json_token token;
    bool ok = reader && json->next(reader, &token) == LAZ_JSON_OBJECT_BEGIN;

    *m = (struct agent_message){0};
    while (ok && json->next(reader, &token) == LAZ_JSON_KEY) {
        const char *ignored;
        size_t ignored_len;
        const char **raw = &ignored;
        size_t *raw_len = &ignored_len;
        bool is_type = message_is(&token, "type");
        if (message_is(&token, "id")) {
            raw = &m->id;
            raw_len = &m->id_len;
        } else if (message_is(&token, "code")) {
            raw = &m->code;
            raw_len = &m->code_len;
        } else if (message_is(&token, "print")) {
            raw = &m->print;
            raw_len = &m->print_len;
        } else if (message_is(&token, "value")) {
            raw = &m->value;
            raw_len = &m->value_len;
        } else if (message_is(&token, "error")) {
            raw = &m->error;
            raw_len = &m->error_len;
        }
        ok = json->skip(reader, raw, raw_len);
        if (ok && is_type) {
            free(m->type);
            m->type = laz_json_to_string(ignored, ignored_len, &ignored_len);
            ok = m->type != NULL; /* without memory a request would pass for a late answer */
        }
    }
    ok = ok && !json->reader_failed(reader);
    json->reader_free(reader);
    return ok;
}

/* Nobody is there to be told anything: no time for goodbyes. */
_Noreturn void agent_hang_up(int why)
{
    if (why == LAZ_ECLOSED)
        _exit(0);
    fputs("lazaret-agent: a line of the host is longer than it may be\n", stderr);
    _exit(AGENT_EXIT_SETUP);
}
