#!/bin/sh
# SPDX-License-Identifier: MIT
# javascript.sh - programs of tests/session/javascript print what is expected (NAME.out), each run by
# lazaret run in a directory of its own, which has what is in NAME.d.
set -eu
srcdir=${srcdir:-.}
. "$srcdir/tests/session/lib.sh"
