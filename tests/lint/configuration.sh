#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/configuration.md is what the schema says: `make docs` makes it again.
set -eu
srcdir=${srcdir:-.}

# The comparison has to be able to fail.
if { ./document; echo more; } | cmp -s - "$srcdir/docs/configuration.md"; then
	echo "a page with another line at its end was taken for the same" >&2
	exit 1
fi
if ! ./document | diff -u "$srcdir/docs/configuration.md" -; then
	echo "docs/configuration.md is not what core/settings says: run make docs" >&2
	exit 1
fi
