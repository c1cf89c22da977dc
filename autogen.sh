#!/bin/sh
# Makes ./configure from configure.ac; needs autoconf, automake, libtool and autoconf-archive.
#
# What autoreconf would run, in the order in which each finds all it needs, so that nothing is run
# twice: aclocal reads six hundred files. The last three read only what is there by then; automake
# wants to see that config.h.in is there, not what is in it.
set -e
cd "$(dirname "$0")"
LIBTOOLIZE=${LIBTOOLIZE-$(command -v libtoolize || command -v glibtoolize || echo libtoolize)} # glibtoolize: macOS
for tool in autoconf automake "$LIBTOOLIZE"; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "autogen.sh: $tool is missing (Debian: apt-get install autoconf automake libtool autoconf-archive)" >&2
        exit 1
    }
done
mkdir -p m4 build-aux
"$LIBTOOLIZE" --install --copy --force
${ACLOCAL-aclocal} --force
[ -e config.h.in ] || : >config.h.in
${AUTOCONF-autoconf} --force &
autoconf_pid=$!
${AUTOHEADER-autoheader} --force &
autoheader_pid=$!
${AUTOMAKE-automake} --add-missing --copy --force-missing
wait $autoconf_pid
wait $autoheader_pid
