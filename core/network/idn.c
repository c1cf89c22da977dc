/* SPDX-License-Identifier: MIT */
/* idn.c - names with letters beyond ASCII as A-labels ("xn--..."), by libidn2.
 * Side: host.  Input trusted: the configuration.
 *
 * The library is loaded when a list has such a name.  Names from the wire are A-labels already:
 * other letters are refused there (name.c). */
#include "config.h"

#include "network/network_private.h"

#include "base/utf8.h"

#include <string.h>

static int idn_error(struct laz_error *err, const char *why)
{
    return laz_error_set(err, LAZ_ECONFIG, 0,
                         "the name has letters beyond ASCII, %s; write its A-labels (xn--...)",
                         why);
}

#ifdef LAZ_IDN_LIBRARY
#include "os/library.h"

#include <idn2.h>

struct idn_library {
    void *handle;
    int (*lookup)(const uint8_t *name, uint8_t **lookup_name, int flags);
    const char *(*words)(int rc);
    void (*free)(void *name);
};

static int idn_load(struct idn_library *idn, struct laz_error *err)
{
    const char *words = NULL;

    idn->handle = laz_library_open(LAZ_IDN_LIBRARY, false, &words);
    if (!idn->handle)
        return idn_error(err, "and libidn2, which makes A-labels of them, cannot be loaded");
    void (*lookup)(void) = laz_library_function(idn->handle, "idn2_lookup_u8");
    void (*text)(void) = laz_library_function(idn->handle, "idn2_strerror");
    void (*release)(void) = laz_library_function(idn->handle, "idn2_free");
    if (!lookup || !text || !release)
        return idn_error(err, "and libidn2 lacks a function");
    memcpy(&idn->lookup, &lookup, sizeof lookup);
    memcpy(&idn->words, &text, sizeof text);
    memcpy(&idn->free, &release, sizeof release);
    return 0;
}

static int idn_convert(const struct idn_library *idn, const char *text, char name[NETWORK_NAME],
                       struct laz_error *err)
{
    uint8_t *found = NULL;
    int code = idn->lookup((const uint8_t *)text, &found, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);

    if (code != IDN2_OK)
        return laz_error_set(err, LAZ_ECONFIG, 0, "no name can have these letters: %s",
                             idn->words(code));
    int rc =
        network_name_normal((const char *)found, strlen((const char *)found), name)
            ? 0
            : laz_error_set(err, LAZ_ECONFIG, 0, "the name has a character that no name can have");
    idn->free(found);
    return rc;
}

int network_name_idn(const char *text, size_t len, char name[NETWORK_NAME], struct laz_error *err)
{
    struct idn_library idn = {0};
    char copy[1024]; /* of at most 253 characters */

    if (len >= sizeof copy || !laz_utf8_is_valid(text, len) || memchr(text, '\0', len))
        return laz_error_set(err, LAZ_ECONFIG, 0, "the name is too long, or is not UTF-8");
    memcpy(copy, text, len);
    copy[len] = '\0';
    int rc = idn_load(&idn, err);
    if (!rc)
        rc = idn_convert(&idn, copy, name, err);
    if (idn.handle)
        laz_library_close(idn.handle);
    return rc;
}
#else
int network_name_idn(const char *text, size_t len, char name[NETWORK_NAME], struct laz_error *err)
{
    (void)text, (void)len, (void)name;
    return idn_error(err, "and this lazaret was built without libidn2");
}
#endif
