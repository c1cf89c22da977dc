/* SPDX-License-Identifier: MIT */
/* main.c - lazaret-picture: a PNG on standard input, sixels on standard output.
 * Side: lazaret-picture.  Input trusted: no (bytes of the code).
 *
 * A program of its own, and not a fork of the host: a fork would have a copy of the host's memory,
 * with what it knows of secrets, and would run in a process that had threads.  It ends with status
 * 0, or without having written anything: nobody asks it why. */
#include "picture/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAIN_PIECE ((size_t)64 << 10)

/* False: it cannot be read, or out of memory, which has a limit. */
static bool main_read(struct laz_buf *data)
{
    ssize_t n = 1;

    while (n > 0 && laz_buf_reserve(data, MAIN_PIECE)) {
        n = read(STDIN_FILENO, data->data + data->len, MAIN_PIECE);
        if (n > 0)
            data->len += (size_t)n;
    }
    return n == 0;
}

static bool main_write(const struct laz_buf *text)
{
    size_t done = 0;
    ssize_t n = 1;

    for (; done < text->len && n > 0; done += n > 0 ? (size_t)n : 0)
        n = write(STDOUT_FILENO, text->data + done, text->len - done);
    return done == text->len;
}

int main(int argc, char **argv)
{
    struct laz_buf data = LAZ_BUF_INIT, text = LAZ_BUF_INIT;
    struct picture picture = {0};
    struct laz_error err = {0};
    bool is_well;

    (void)argv;
    if (argc > 1) {
        fputs("usage: lazaret-picture <FILE.png >FILE.six\nIt is started by lazaret, which writes "
              "what a terminal needs around it.\n",
              stderr);
        return 2;
    }
    if (picture_confine(&err)) {
        fprintf(stderr, "lazaret-picture: %s\n", err.text);
        return 125;
    }
    is_well = main_read(&data) && picture_read_png(data.data, data.len, &picture);
    if (is_well) {
        picture_fit(&picture);
        picture_sixels(&picture, &text);
        is_well = !text.failed && text.len <= PICTURE_SIXELS && main_write(&text);
    }
    /* Nothing is freed, and no handler is run. Not _exit(), before which a sanitizer looks for
     * leaks with calls that the filter refuses. */
    _Exit(is_well ? 0 : 1);
}
