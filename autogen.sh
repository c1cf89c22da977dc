#!/bin/sh
# Makes ./configure from configure.ac; needs autoconf, automake, libtool and autoconf-archive.
set -e
cd "$(dirname "$0")"
LIBTOOLIZE=${LIBTOOLIZE-$(command -v libtoolize || command -v glibtoolize || echo libtoolize)} # glibtoolize: macOS
export LIBTOOLIZE
for tool in autoreconf automake "$LIBTOOLIZE"; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "autogen.sh: $tool is missing (Debian: apt-get install autoconf automake libtool autoconf-archive)" >&2
        exit 1
    }
done
mkdir -p m4 build-aux
exec autoreconf --install --force
