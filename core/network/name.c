/* SPDX-License-Identifier: MIT */
/* name.c - names of hosts, in the one form in which they are compared.
 * Side: host.  Input trusted: no.
 *
 * What is not a name in this form is no name: it matches no rule.  A name whose last label is a
 * number is an address in one of the notations of old (0x7f.1, 2130706433), and no name either. */
#include "network/network_private.h"

#include "base/utf8.h"
#include "base/visible.h"

#include <stdio.h>
#include <string.h>

static bool name_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Is a label a number: decimals, or 0x and hexadecimals? */
static bool name_is_number(const char *label, size_t len)
{
    static const char hexadecimals[] = "0123456789abcdef";

    if (len >= 2 && label[0] == '0' && label[1] == 'x')
        return strspn(label + 2, hexadecimals) >= len - 2;
    for (size_t i = 0; i < len; i++)
        if (!name_is_digit(label[i]))
            return false;
    return true;
}

/* What is wrong with a text as a name; NULL: nothing, and it is in `name`. */
static const char *name_problem(const char *text, size_t len, char name[NETWORK_NAME])
{
    size_t label = 0; /* where it begins */

    len -= len && text[len - 1] == '.';
    if (!len)
        return "the name is empty";
    if (len >= NETWORK_NAME)
        return "the name has more than 253 bytes";
    for (size_t i = 0; i <= len; i++) {
        char c = i < len ? text[i] : '.';
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c == '.') {
            if (i == label)
                return "a label of the name (what stands between two dots) is empty";
            if (i - label > 63)
                return "a label of the name has more than 63 bytes";
            if (i == len)
                break;
            label = i + 1;
        } else if (!(c >= 'a' && c <= 'z') && !name_is_digit(c) && c != '-' && c != '_')
            return "the name has a character other than letters, digits, '-', '_' and '.'";
        name[i] = c;
    }
    name[len] = '\0';
    if (name_is_number(name + label, len - label))
        return "that is neither a name nor an address: an address has four decimals from 0 to 255 "
               "(10.0.0.5), or is IPv6 in brackets ([2001:db8::1])";
    return NULL;
}

bool network_name_normal(const char *text, size_t len, char name[NETWORK_NAME])
{
    bool is_name = !name_problem(text, len, name);

    if (!is_name)
        *name = '\0';
    return is_name;
}

int network_name_of_list(const char *text, size_t len, char name[NETWORK_NAME],
                         struct laz_error *err)
{
    const char *problem;

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] > 127)
            return network_name_idn(text, len, name, err);
    problem = name_problem(text, len, name);
    return problem ? laz_error_set(err, LAZ_ECONFIG, 0, "%s", problem) : 0;
}

bool network_name_is_ours(const char *name)
{
    static const char end[] = ".lazaret";
    size_t len = strlen(name);

    return len >= sizeof end && !strcmp(name + len - (sizeof end - 1), end);
}

void network_escape(const char *text, size_t len, char *out, size_t size)
{
    struct laz_buf shown = LAZ_BUF_INIT;

    laz_visible_line(&shown, text, len < size ? len : size);
    snprintf(out, size, "%s", laz_buf_text(&shown));
    laz_utf8_clean(out); /* the last character may be cut off */
    laz_buf_fini(&shown);
}
