/* SPDX-License-Identifier: MIT */
/* picture.h - a PNG of untrusted code becomes a sixel string for the terminal.
 *
 * Sixels (DEC STD 070, chapter 9) are the form in which many terminals take pictures.  They cannot
 * be made without decoding the PNG, so that is done by a program of its own, lazaret-picture, which
 * gives up everything but its standard input and output before it reads the first byte.  What it
 * writes is as untrusted as the PNG: the host checks it with picture_is_sixel. */
#ifndef LAZ_PICTURE_PICTURE_H
#define LAZ_PICTURE_PICTURE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PICTURE_PIXELS 16777216u             /* of a PNG that is decoded */
#define PICTURE_WIDTH  800u                  /* of one that is shown */
#define PICTURE_HEIGHT 1200u                 /* the same */
#define PICTURE_SIXELS ((size_t)8 << 20)     /* bytes of a sixel string */
#define PICTURE_MEMORY ((uint64_t)512 << 20) /* of the program that decodes */
#define PICTURE_CPU_S  10u                   /* the same */

struct picture {
    uint32_t width, height;
    unsigned char *rgb; /* three bytes a pixel, rows from the top; malloc */
};

/* ---- in lazaret-picture ---------------------------------------------------------------------- */

/* Takes everything from this process but memory, its standard input and its standard output. It
 * cannot be undone. Errors: LAZ_ESETUP, LAZ_EOS: do not read the picture. */
int picture_confine(struct laz_error *err);
/* Decodes a PNG, on white where it is transparent. False: it is none, it is broken or too large, or
 * out of memory. The caller frees picture->rgb. */
bool picture_read_png(const void *data, size_t len, struct picture *picture);
/* Scales it down, if it is larger than PICTURE_WIDTH x PICTURE_HEIGHT. */
void picture_fit(struct picture *picture);
/* Appends the sixel string without its introducer and its end. */
void picture_sixels(const struct picture *picture, struct laz_buf *out);

/* ---- in the host ----------------------------------------------------------------------------- */

/* Is it a sixel string as picture_sixels makes them? Then it has no byte that ends the string or
 * begins another command, it is of at most PICTURE_SIXELS bytes, and it paints nothing outside of a
 * raster of PICTURE_WIDTH x PICTURE_HEIGHT. */
bool picture_is_sixels(const char *text, size_t len);

#endif
