/* SPDX-License-Identifier: MIT */
/* input.c - standard input of this process is not passed on.  System: Windows.
 *
 * The agent finds its channel in the place of standard input here (sockets.c). */
#include "os/input.h"

int laz_input_begin(int from, struct laz_input **input, int *fd, struct laz_error *err)
{
    (void)from;
    (void)err;
    *input = NULL;
    *fd = -1;
    return 0;
}

void laz_input_hold(struct laz_input *input, bool is_held)
{
    (void)input;
    (void)is_held;
}

void laz_input_end(struct laz_input *input)
{
    (void)input;
}
