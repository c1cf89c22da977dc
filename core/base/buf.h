/* SPDX-License-Identifier: MIT */
/* buf.h - a growing buffer of bytes, and a growing list of strings.
 *
 * A failed allocation is remembered, not reported each time: append as often as you like, then
 * check `failed` once.  `data` is always NUL-terminated after the first append. */
#ifndef LAZ_BASE_BUF_H
#define LAZ_BASE_BUF_H

#include <lazaret/error.h>

#include <stdbool.h>
#include <stddef.h>

struct laz_buf {
    char *data; /* NULL until something is appended */
    size_t len; /* without the NUL */
    size_t cap;
    bool failed;
};

#define LAZ_BUF_INIT                                                                               \
    {                                                                                              \
        NULL, 0, 0, false                                                                          \
    }

void laz_buf_fini(struct laz_buf *buf);                 /* also makes it empty and usable again */
void laz_buf_clear(struct laz_buf *buf);                /* keeps the memory */
bool laz_buf_reserve(struct laz_buf *buf, size_t more); /* room for `more` bytes and a NUL */
void laz_buf_append(struct laz_buf *buf, const void *data, size_t len);
void laz_buf_puts(struct laz_buf *buf, const char *text);
/* Appends another one, which is empty then; its memory is taken where `buf` was empty. */
void laz_buf_take(struct laz_buf *buf, struct laz_buf *other);
void laz_buf_putc(struct laz_buf *buf, char c);
void laz_buf_printf(struct laz_buf *buf, const char *format, ...) LAZ_PRINTF(2, 3);
void laz_buf_drop(struct laz_buf *buf, size_t n);    /* removes n bytes from the front */
const char *laz_buf_text(const struct laz_buf *buf); /* "" when empty; borrowed */
char *laz_buf_steal(struct laz_buf *buf);            /* gives the text; NULL only if failed */

/* A list of strings that ends with NULL, as exec expects it. */
struct laz_strv {
    char **items; /* NULL while empty */
    size_t n;
    size_t cap;
    bool failed;
};

#define LAZ_STRV_INIT                                                                              \
    {                                                                                              \
        NULL, 0, 0, false                                                                          \
    }

void laz_strv_fini(struct laz_strv *strv);
void laz_strv_add(struct laz_strv *strv, const char *text); /* copies */
void laz_strv_addf(struct laz_strv *strv, const char *format, ...) LAZ_PRINTF(2, 3);
void laz_strv_sort(struct laz_strv *strv, size_t from); /* the items from that one on */
bool laz_strv_has(const struct laz_strv *strv, const char *text);

/* Appends a zeroed item to an array, which only this function makes longer. `array`: the address of
 * its pointer, NULL at first. NULL: out of memory, and nothing has changed. */
void *laz_grow(void *array, size_t *n, size_t size);

/* Overwrites a secret with zeros; the compiler cannot optimise that away. */
void laz_wipe(void *data, size_t len);

/* Where the part is in the text; NULL: nowhere, or it is empty. Not every system has memmem. */
const char *laz_find_part(const char *text, size_t len, const char *part, size_t n);
char *laz_strdup(const char *text);                          /* NULL for NULL, or out of memory */
char *laz_strndup(const char *text, size_t len);             /* copies len bytes, adds a NUL */
char *laz_strdupf(const char *format, ...) LAZ_PRINTF(1, 2); /* NULL: out of memory */

#endif
