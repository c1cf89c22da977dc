/* SPDX-License-Identifier: MIT */
/* lazaret/error.h - how every function of lazaret reports a failure.
 *
 * A function that can fail returns 0 or a negative LAZ_E* and takes, as its last argument, a
 * `struct laz_error *` that the caller owns.  It has a fixed size and holds no pointer: nothing is
 * ever freed.  It may be NULL.  Success leaves it untouched; a failure fills it once, with a
 * sentence that says what was wrong, where, and what to do about it. */
#ifndef LAZARET_ERROR_H
#define LAZARET_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined _WIN32
#define LAZ_EXPORT __declspec(dllexport)
#else
#define LAZ_EXPORT __attribute__((visibility("default")))
#endif

/* Formats are those of C, also where the system's own printf knows others. */
#if defined __MINGW32__ && !defined __clang__
#define LAZ_PRINTF(format_index, first_index)                                                      \
    __attribute__((format(gnu_printf, format_index, first_index)))
#elif defined __GNUC__
#define LAZ_PRINTF(format_index, first_index)                                                      \
    __attribute__((format(printf, format_index, first_index)))
#else
#define LAZ_PRINTF(format_index, first_index)
#endif

#define LAZ_EINVAL     (-1)  /* an argument of the caller is wrong */
#define LAZ_ENOMEM     (-2)  /* out of memory */
#define LAZ_EOS        (-3)  /* a system call failed; os_errno has the cause */
#define LAZ_ECONFIG    (-4)  /* a configuration cannot be used */
#define LAZ_EPLUGIN    (-5)  /* a plugin cannot be loaded or broke its contract */
#define LAZ_ESETUP     (-6)  /* no box, no agent or no runtime: nothing ran */
#define LAZ_EBUSY      (-7)  /* the object is in use */
#define LAZ_ECLOSED    (-8)  /* the object is closed */
#define LAZ_EPROTO     (-9)  /* a peer broke the protocol */
#define LAZ_ETOOBIG    (-10) /* larger than a limit allows; the text names the limit */
#define LAZ_ENOENT     (-11) /* no such thing */
#define LAZ_EREFUSED   (-12) /* a policy, or this version, does not allow it */
#define LAZ_ETIMEOUT   (-13) /* not done in time */
#define LAZ_EPARSE     (-14) /* malformed text */
#define LAZ_ECANCELLED (-15) /* the caller asked to stop */

/* A struct that begins with its size, with that size set and everything else 0: what is not set
 * later has its default. */
#ifdef __cplusplus
#define LAZ_INIT(type)                                                                             \
    ([] {                                                                                          \
        type made = {};                                                                            \
        made.size = sizeof(type);                                                                  \
        return made;                                                                               \
    }())
#else
#define LAZ_INIT(type) {.size = sizeof(type)}
#endif

#define LAZ_ERROR_TEXT_SIZE 1024

struct laz_error {
    int32_t code;                   /* LAZ_E*, or 0 when nothing failed */
    int32_t os_errno;               /* errno of the system call that failed, or 0; of a start that
                                       was too slow ETIMEDOUT */
    char text[LAZ_ERROR_TEXT_SIZE]; /* UTF-8, one line, NUL-terminated */
};

/* For plugins, which import no function of lazaret: fills *err (unless NULL) and returns `code`, so
 * that an operation can end with `return laz_fail(err, LAZ_EINVAL, "no city named %s", name)`.
 * Control bytes become spaces; a text that is too long is cut after a whole character. */
static inline LAZ_PRINTF(3, 4) int laz_fail(struct laz_error *err, int code, const char *format,
                                            ...)
{
    va_list args;
    size_t end = LAZ_ERROR_TEXT_SIZE - 1;

    if (!err)
        return code;
    err->code = code;
    err->os_errno = 0;
    va_start(args, format);
    int len = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (len < 0)
        err->text[0] = '\0';
    if (len > (int)end) {
        while (end > 0 && ((unsigned char)err->text[end - 1] & 0xc0) == 0x80)
            end--;
        err->text[end > 0 ? end - 1 : 0] = '\0';
    }
    for (char *at = err->text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = ' ';
    return code;
}

#ifdef __cplusplus
}
#endif
#endif
