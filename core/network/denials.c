/* SPDX-License-Identifier: MIT */
/* denials.c - what was refused, for people, models and programs.
 * Side: host.  Input trusted: texts in a denial were escaped by who has made it.
 *
 * A denial says what would permit it, so that whoever reads it need not guess; where nothing would,
 * it says nothing of the kind. */
#include "network/network_private.h"

#include "base/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The word for programs, and what a sentence says behind the name or address. */
static const struct {
    const char *word, *words;
} denied[LAZ_N_DENIED] = {
    [LAZ_DENIED_NAME] = {"name", " is not in the network list"},
    [LAZ_DENIED_PORT] = {"port", ": the network list has this name, but not this port"},
    [LAZ_DENIED_ADDRESS] = {"address", " is not in the network list"},
    [LAZ_DENIED_SERVER_NAME] = {"server_name", ": TLS has to name this server"},
    [LAZ_DENIED_HOST] = {"host", ": this HTTP request is not for this host, or cannot be judged"},
    [LAZ_DENIED_PRIVATE] = {"private", " has only addresses that the network list does not permit"},
    [LAZ_DENIED_PROTOCOL] = {"protocol", ": this protocol is not passed on"},
    [LAZ_DENIED_LIMIT] = {"limit", ": a limit of the network list is reached"},
    [LAZ_DENIED_UNREACHABLE] = {"unreachable", " is permitted, but cannot be reached"},
    [LAZ_DENIED_CREDENTIAL] = {"credential", ": refused where its credential is added"},
};

const char *laz_denied_word(enum laz_denied what)
{
    return denied[what].word;
}

/* "name:port", "address:port", or what of it is known. */
static void denial_place(const struct laz_denial *denial, struct laz_buf *text)
{
    const char *place = *denial->name ? denial->name : denial->address;
    bool is_six = !*denial->name && strchr(place, ':');

    if (!*place)
        place = "a connection";
    laz_buf_printf(text, is_six ? "[%s]" : "%s", place);
    if (denial->port)
        laz_buf_printf(text, ":%u", (unsigned)denial->port);
}

void laz_denial_text(const struct laz_denial *denial, struct laz_buf *text)
{
    denial_place(denial, text);
    laz_buf_puts(text, denied[denial->what].words);
    if (*denial->detail)
        laz_buf_printf(text, ": %s", denial->detail);
    if (*denial->allow)
        laz_buf_printf(text, " (%s below [network])", denial->allow);
    else if (*denial->rule)
        laz_buf_printf(text, " (rule: %s)", denial->rule);
    if (denial->count > 1)
        laz_buf_printf(text, "; %llu times", (unsigned long long)denial->count);
}

static void denial_add_known(struct laz_json_write *write, const char *key, const char *text)
{
    if (*text)
        laz_json_add_text(write, key, text);
}

void laz_denial_json(const struct laz_denial *denial, struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "what", laz_denied_word(denial->what));
    denial_add_known(&write, "name", denial->name);
    denial_add_known(&write, "address", denial->address);
    if (denial->port)
        laz_json_add_uint(&write, "port", denial->port);
    laz_json_add_uint(&write, "count", denial->count);
    denial_add_known(&write, "rule", denial->rule);
    if (*denial->allow) {
        char allow[sizeof denial->allow + 20];
        snprintf(allow, sizeof allow, "%s below [network]", denial->allow);
        laz_json_add_text(&write, "allow", allow);
    }
    denial_add_known(&write, "detail", denial->detail);
    laz_json_add_text(&write, "retry", denial->is_permanent ? "useless" : "later");
    laz_json_add_text(&write, "source", "network");
    laz_json_end_object(&write);
}

/* ---- the list -------------------------------------------------------------------------------- */

static bool denial_is_same(const struct laz_denial *a, const struct laz_denial *b)
{
    return a->what == b->what && a->port == b->port && strcmp(a->name, b->name) == 0 &&
           strcmp(a->address, b->address) == 0 && strcmp(a->detail, b->detail) == 0;
}

bool laz_denials_add(struct laz_denials *denials, const struct laz_denial *denial)
{
    uint64_t count = denial->count ? denial->count : 1;

    for (size_t i = 0; i < denials->n; i++)
        if (denial_is_same(&denials->items[i], denial)) {
            denials->items[i].count += count;
            return false;
        }
    if (!denials->items)
        denials->items = malloc(LAZ_DENIALS * sizeof *denials->items);
    if (!denials->items || denials->n == LAZ_DENIALS) {
        denials->others += count;
        return false;
    }
    denials->items[denials->n] = *denial;
    denials->items[denials->n++].count = count;
    return true;
}

void laz_denials_fini(struct laz_denials *denials)
{
    free(denials->items);
    *denials = (struct laz_denials){.items = NULL};
}

/* ---- what would permit it -------------------------------------------------------------------- */

void network_allow_line(char line[340], const char *name, const struct network_address *address,
                        uint16_t port)
{
    char text[300], shown[NETWORK_ADDRESS_TEXT];
    struct network_rule rule = {.text = NULL};

    *line = '\0';
    if (name && network_name_is_ours(name)) /* not by this list alone */
        return;
    if (name && (port == 80 || port == 443 || !port))
        snprintf(text, sizeof text, "%s%s", port == 80 ? "http://" : "https://", name);
    else if (name)
        snprintf(text, sizeof text, "%s:%u", name, (unsigned)port);
    else {
        network_address_format(address, shown);
        snprintf(text, sizeof text, address->family == 6 ? "[%s]:%u" : "%s:%u", shown,
                 (unsigned)port);
    }
    /* No line is better than one that would be refused, or that opens what code should not have. */
    if (!network_rule_parse(text, &rule, NULL) && (name || !network_class_is_named(address)))
        snprintf(line, 340, "allow = [\"%s\"]", text);
    network_rule_fini(&rule);
}
