/* SPDX-License-Identifier: MIT */
/* buf.c - a growing buffer of bytes, and a growing list of strings. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void laz_buf_fini(struct laz_buf *buf)
{
    free(buf->data);
    *buf = (struct laz_buf)LAZ_BUF_INIT;
}

void laz_buf_clear(struct laz_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->data)
        buf->data[0] = '\0';
}

bool laz_buf_reserve(struct laz_buf *buf, size_t more)
{
    if (buf->failed)
        return false;
    if (buf->cap > buf->len && buf->cap - buf->len > more)
        return true;
    if (more > SIZE_MAX / 2 - buf->len - 1) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->len + more + 1;
    size_t cap = buf->cap ? buf->cap : 64;
    while (cap < need)
        cap += cap < (1u << 24) ? cap : cap / 2;
    char *data = realloc(buf->data, cap);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->cap = cap;
    return true;
}

void laz_buf_append(struct laz_buf *buf, const void *data, size_t len)
{
    if (!laz_buf_reserve(buf, len))
        return;
    if (len)
        memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void laz_buf_take(struct laz_buf *buf, struct laz_buf *other)
{
    const bool failed = buf->failed || other->failed;

    if (buf->len) {
        laz_buf_append(buf, laz_buf_text(other), other->len);
        laz_buf_fini(other);
    } else {
        laz_buf_fini(buf);
        *buf = *other;
        *other = (struct laz_buf)LAZ_BUF_INIT;
    }
    buf->failed |= failed;
}

void laz_buf_puts(struct laz_buf *buf, const char *text)
{
    laz_buf_append(buf, text, strlen(text));
}

void laz_buf_putc(struct laz_buf *buf, char c)
{
    laz_buf_append(buf, &c, 1);
}

void laz_buf_printf(struct laz_buf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (need < 0 || !laz_buf_reserve(buf, (size_t)need)) {
        buf->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(buf->data + buf->len, (size_t)need + 1, format, args);
    va_end(args);
    buf->len += (size_t)need;
}

void laz_buf_drop(struct laz_buf *buf, size_t n)
{
    if (n > buf->len)
        n = buf->len;
    if (!n)
        return;
    memmove(buf->data, buf->data + n, buf->len - n + 1);
    buf->len -= n;
}

const char *laz_buf_text(const struct laz_buf *buf)
{
    return buf->data ? buf->data : "";
}

char *laz_buf_steal(struct laz_buf *buf)
{
    if (!buf->data)
        laz_buf_append(buf, "", 0);
    if (buf->failed) {
        laz_buf_fini(buf);
        return NULL;
    }
    char *data = buf->data;
    *buf = (struct laz_buf)LAZ_BUF_INIT;
    return data;
}

static int strv_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void laz_strv_sort(struct laz_strv *strv, size_t from)
{
    if (strv->n > from)
        qsort(strv->items + from, strv->n - from, sizeof *strv->items, strv_compare);
}

/* It always has room for a power of two. */
void *laz_grow(void *array, size_t *n, size_t size)
{
    void *items;

    memcpy(&items, array, sizeof items);
    if (!(*n & (*n - 1))) {
        items = realloc(items, (*n ? 2 * *n : 1) * size);
        if (!items)
            return NULL;
        memcpy(array, &items, sizeof items);
    }
    return memset((char *)items + (*n)++ * size, 0, size);
}

void laz_strv_fini(struct laz_strv *strv)
{
    for (size_t i = 0; i < strv->n; i++)
        free(strv->items[i]);
    free(strv->items);
    *strv = (struct laz_strv)LAZ_STRV_INIT;
}

static void strv_take(struct laz_strv *strv, char *text)
{
    if (!text || strv->failed)
        goto fail;
    if (strv->n + 2 > strv->cap) {
        size_t cap = strv->cap ? strv->cap * 2 : 16;
        char **items = realloc(strv->items, cap * sizeof *items);
        if (!items)
            goto fail;
        strv->items = items;
        strv->cap = cap;
    }
    strv->items[strv->n++] = text;
    strv->items[strv->n] = NULL;
    return;
fail:
    free(text);
    strv->failed = true;
}

void laz_strv_add(struct laz_strv *strv, const char *text)
{
    strv_take(strv, laz_strdup(text));
}

static LAZ_PRINTF(1, 0) char *text_vformat(const char *format, va_list args)
{
    char *text;

    return vasprintf(&text, format, args) < 0 ? NULL : text;
}

void laz_strv_addf(struct laz_strv *strv, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    strv_take(strv, text_vformat(format, args));
    va_end(args);
}

bool laz_strv_has(const struct laz_strv *strv, const char *text)
{
    for (size_t i = 0; i < strv->n; i++)
        if (strcmp(strv->items[i], text) == 0)
            return true;
    return false;
}

char *laz_strdup(const char *text)
{
    return text ? laz_strndup(text, strlen(text)) : NULL;
}

char *laz_strndup(const char *text, size_t len)
{
    char *copy = malloc(len + 1);

    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *laz_strdupf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *text = text_vformat(format, args);
    va_end(args);
    return text;
}

/* A compiler may leave out a memset of memory that is not read afterwards, but not a call through a
 * volatile pointer. */
static void *(*const volatile buf_set)(void *, int, size_t) = memset;

void laz_wipe(void *data, size_t len)
{
    if (len)
        buf_set(data, 0, len);
}

const char *laz_find_part(const char *text, size_t len, const char *part, size_t n)
{
    for (size_t i = 0; n && n <= len && i <= len - n; i++) {
        const char *at = memchr(text + i, part[0], len - n + 1 - i);
        if (!at)
            return NULL;
        if (memcmp(at, part, n) == 0)
            return at;
        i = (size_t)(at - text);
    }
    return NULL;
}
