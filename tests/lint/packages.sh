#!/bin/sh
# SPDX-License-Identifier: MIT
# packages.sh - each package of Debian that the build needs has its name for every other manager of
# packages, and without apt-get one command is printed.
. "${srcdir:-.}/tests/lint/lib.sh"

(
    top=$(cd "$srcdir" && pwd)
    . "$top/scripts/lib.sh"
    # shellcheck disable=SC2154 # lib.sh sets it
    set -- $packages_managers
    for package in $packages_build; do
        printf '%s\n' "$packages_names" | awk -v package="$package" -v columns="$#" '
            $1 == package { n++; if (NF != columns + 1) print package " has " NF - 1 " names, not " columns }
            END { if (n != 1) print package " has " n + 0 " rows" }'
    done
    printf '%s\n' "$packages_names" | awk -v list="$packages_build" '
        BEGIN { n = split(list, words); for (i = 1; i <= n; i++) wanted[words[i]] = 1 }
        NF && !($1 in wanted) { print $1 " is not in packages_build" }'

    # Each manager alone.
    mkdir packages.tmp
    for tool in awk id; do
        ln -s "$(command -v $tool)" packages.tmp/$tool
    done
    for manager in "$@"; do
        printf '#!/bin/sh\n' >"packages.tmp/$manager"
        chmod 755 "packages.tmp/$manager"
        PATH=$PWD/packages.tmp packages_need 'gcc libltdl-dev libtool libseccomp-dev'
        rm "packages.tmp/$manager"
    done
    PATH=$PWD/packages.tmp packages_need gcc
    rm -r packages.tmp
) >packages-found.tmp 2>&1
grep '^    [a-z]' packages-found.tmp >packages-told.tmp
printf '    %s\n' 'sudo dnf install libtool libtool-ltdl-devel gcc libseccomp-devel' \
    'sudo pacman -S --needed libtool gcc libseccomp' 'sudo zypper install libtool gcc libseccomp-devel' \
    'sudo apk add libtool libltdl gcc libseccomp-dev' \
    'with musl lazaret compiles and was not run; there is no package of it' 'brew install libtool' \
    'of the backends there is seatbelt alone: no namespaces, Landlock, control groups' |
    diff - packages-told.tmp >&2 || wrong 'the commands are others'
[ "$(grep -c 'none of apt-get' packages-found.tmp)" -eq 1 ] || wrong 'a system without any is not told'
found=$(grep -v -e '^    ' -e ': the build needs ' -e 'none of apt-get' packages-found.tmp)
rm -f packages-found.tmp packages-told.tmp
[ -z "$found" ] || wrong "$found"
lint_end
