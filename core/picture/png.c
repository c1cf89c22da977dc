/* SPDX-License-Identifier: MIT */
/* png.c - decodes a PNG, with libpng.
 * Side: lazaret-picture.  Input trusted: no (bytes of the code). */
#include "picture/picture.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

bool picture_read_png(const void *data, size_t len, struct picture *picture)
{
    static const png_color white = {255, 255, 255};
    png_image image;

    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    *picture = (struct picture){0};
    if (!png_image_begin_read_from_memory(&image, data, len))
        return false;
    image.format = PNG_FORMAT_RGB;
    if ((uint64_t)image.width * image.height <= PICTURE_PIXELS)
        picture->rgb = malloc(PNG_IMAGE_SIZE(image));
    if (!picture->rgb || !png_image_finish_read(&image, &white, picture->rgb, 0, NULL)) {
        png_image_free(&image);
        free(picture->rgb);
        picture->rgb = NULL;
        return false;
    }
    picture->width = image.width;
    picture->height = image.height;
    return true;
}
