/* SPDX-License-Identifier: MIT */
/* declarations.c - around an example of a document that is neither a program nor a plugin: what it
 * declares compiles by itself. */
#include <lazaret/lazaret.h>
#include <lazaret/runtime.h>

#include <lazaret/backend.h>
#include <lazaret/options.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#pragma GCC diagnostic ignored "-Wunused-variable"
EXAMPLE

int main(void)
{
    return 0;
}
