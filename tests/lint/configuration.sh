#!/bin/sh
# SPDX-License-Identifier: MIT
# configuration.sh - docs/configuration.md agrees with the schema; `make docs` makes it anew.
set -eu
srcdir=${srcdir:-.}

# Shows that the comparison can fail.
if { ./write-configuration; echo more; } | cmp -s - "$srcdir/docs/configuration.md"; then
	echo "a page with another line at its end was taken for the same" >&2
	exit 1
fi
if ! ./write-configuration | diff -u "$srcdir/docs/configuration.md" -; then
	echo "docs/configuration.md is not what core/settings says: run make docs" >&2
	exit 1
fi
