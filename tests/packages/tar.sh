#!/bin/sh
# SPDX-License-Identifier: MIT
# tar.sh - the tarball of scripts/packages in fresh systems of Debian that have nothing else.
#
# usage: tests/packages/tar.sh PACKAGES
#
# PACKAGES is the directory of the packages. In each release the tarball is unpacked into a directory whose
# name has a space; then code runs as root and as an ordinary user, by landlock, and once bubblewrap is installed
# by bwrap. It is moved, and runs; what it needs of the system is there. Times are printed. Exit status: 0, 1,
# 77 where no such system can be made.
set -eu

. "$(dirname "$0")/lib.sh"

tarball=$(echo "$packages"/lazaret-*-linux-"$(uname -m)".tar.xz)
name=${tarball##*/}
name=${name%.tar.xz}

for codename in bookworm trixie; do
    system "$codename" xz-utils
    cp "$tarball" "$root/tmp/"
    timed installed inside sh -ec "mkdir '/opt/a place' && tar -C '/opt/a place' -xf '/tmp/$name.tar.xz'" ||
        wrong "it cannot be unpacked"
    place="/opt/a place/$name"
    inside sh -ec "cd '$place' && find . -type f | while read -r file; do
        ! ldd \"\$file\" 2>/dev/null | grep 'not found' || exit 1; done" >"$root.log" || wrong "a library is missing: $(cat "$root.log")"
    for backend in landlock bwrap; do
        [ $backend != bwrap ] || bubblewrap
        for user in root tester; do
            answers $user $backend "$place/bin/lazaret" run --json --runtime lua -e 'print(6 * 7)'
            answers $user $backend "$place/bin/lazaret" run --json --runtime shell -e 'echo $((6 * 7))'
            answers $user $backend "$place/bin/lazaret" run --json -- sh -c 'echo 42'
            answers $user $backend "$place/bin/lazaret" run --json -e 'print(6 * 7)'
        done
    done
    inside mv "$place" /opt/moved
    answers tester bwrap /opt/moved/bin/lazaret run --json --runtime lua -e 'print(6 * 7)'
    inside /opt/moved/bin/lazaret doctor >"$root.log" || wrong "doctor: $(cat "$root.log")"
    proxy "$root.log"
    gone
done
