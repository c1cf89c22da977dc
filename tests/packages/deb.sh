#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh - the packages of Debian of this machine, in a fresh system of each release that they are for.
#
# usage: tests/packages/deb.sh PACKAGES
#
# PACKAGES is the directory of the packages. lintian, that of the release, finds no error. Only what they depend on is
# installed with them: code of each language runs as root and as an ordinary user, by landlock and, once bubblewrap is
# installed, by bwrap; so does an application with the library; a version is upgraded, with a configuration that
# somebody has changed; all is removed, then purged, and no file is left. Times are printed. Exit status: 0, 1,
# 77 where no such system can be made.
set -eu

. "$(dirname "$0")/lib.sh"

languages="javascript lua python r shell"
machine=$(dpkg --print-architecture)

# left WHEN [FILE...] - only these files are left of the packages.
left() {
    left_when=$1
    shift
    debian_files "$root" | diff "$root.before" - | sed -n 's/^[<>] //p' >"$root.left"
    printf '%s\n' "$@" | sed '/^$/d' | cmp -s - "$root.left" || wrong "$left_when: files differ: $(cat "$root.left")"
}

# code_of LANGUAGE - prints code that writes 42.
code_of() {
    case $1 in
        javascript) echo '6 * 7 as number' ;;
        r) echo 'writeLines(format(6 * 7))' ;;
        shell) echo 'echo $((6 * 7))' ;;
        *) echo 'print(6 * 7)' ;;
    esac
}

# runs BACKEND - code of each language runs in that backend, which is not named, as both users.
runs() {
    for user in root tester; do
        for language in $languages; do
            answers $user "$1" lazaret run --json --runtime "$language" -e "$(code_of "$language")"
        done
        as $user lazaret doctor >"$root.doctor" 2>&1 || wrong "doctor as $user: $(cat "$root.doctor")"
        proxy "$root.doctor"
    done
}

# lower - makes the packages once more, with a lower number.
lower() {
    for package in "$root"/packages/*.deb; do
        dpkg-deb -R "$package" "$root.package"
        sed -i "s/${version}/${version}~lower/g" "$root.package/DEBIAN/control"
        dpkg-deb -Znone --root-owner-group -b "$root.package" "$root/packages/lower/${package##*/}" >/dev/null
        rm -rf "$root.package"
    done
}

is_version() {
    is=$(inside dpkg-query -W -f '${db:Status-Abbrev}${Version}\n' 'lazaret*' 'liblazaret*' | grep -v '^un' | sort -u)
    [ "$is" = "ii $1" ] || wrong "version $1 is not what is installed: $is"
}

for codename in bookworm trixie; do
    # From nothing: what they depend on is fetched.
    system "$codename"
    release=$(. "$root/etc/os-release" && echo "$VERSION_ID")
    version=$(dpkg-deb -f "$(echo "$packages"/lazaret_*"+deb${release}_$machine.deb")" Version)
    mkdir -p "$root/packages/lower"
    for package in "$packages"/*"_${version}_$machine.deb"; do
        case $package in *-dbgsym_*) ;; *) cp "$package" "$root/packages/" ;; esac
    done
    # A runtime fits the interpreters of one release: those of the one before it are replaced.
    dpkg --compare-versions "${version%+deb*}+deb$((release - 1))" lt "$version" ||
        wrong "$version replaces no packages of Debian $((release - 1))"
    # shellcheck disable=SC2016
    timed "installed with what is fetched" inside sh -ec 'apt-get update && exec apt-get install -y \
        --no-install-recommends /packages/lazaret_*.deb /packages/lazaret-python_*.deb' >"$root.log" 2>&1 ||
        wrong "not installed: $(tail "$root.log")"
    tail -n 1 "$root.log"
    answers tester landlock lazaret run --json -e 'print(6 * 7)'

    system "$codename" lintian
    mkdir "$root/packages"
    cp "$packages"/*"_${version}_$machine.deb" "$root/packages/"
    inside sh -c 'exec lintian --allow-root --fail-on error /packages/*.deb' >"$root.log" 2>&1 ||
        wrong "lintian: $(cat "$root.log")"

    system "$codename"
    mkdir -p "$root/packages/lower"
    for package in "$packages"/*"_${version}_$machine.deb"; do
        case $package in *-dbgsym_*) ;; *) cp "$package" "$root/packages/" ;; esac
    done
    lower
    depends=$(for package in "$root"/packages/*.deb; do dpkg-deb -f "$package" Depends; done | tr ',' '\n' |
        sed 's/^ *//' | grep -vE '^(lib)?lazaret' | sort -u | paste -sd ,)
    # shellcheck disable=SC2016
    inside sh -ec 'apt-get update && exec apt-get satisfy -y --no-install-recommends "$0"' "$depends" >"$root.log" 2>&1 ||
        wrong "what they depend on cannot be installed: $(tail -n 5 "$root.log")"
    debian_files "$root" >"$root.before"
    # shellcheck disable=SC2016
    timed installed inside sh -c 'exec dpkg -i /packages/lower/*.deb >/packages/log 2>&1' ||
        wrong "not installed: $(tail "$root/packages/log")"
    is_version "$version~lower"
    runs landlock

    # An application that was built with the library's package.
    libraries=$(echo "$root"/usr/lib/*/liblazaret.so)
    "${CC:-cc}" -I"$root/usr/include" -o "$root/packages/embed" "$root/usr/share/lazaret/examples/embed.c" \
        -L"${libraries%/*}" -llazaret -Wl,--unresolved-symbols=ignore-in-shared-libs || wrong "embed.c is not built"
    inside /packages/embed >"$root.embed" 2>&1 && grep -q '^verdict: ok$' "$root.embed" ||
        wrong "embed: $(cat "$root.embed")"

    echo '# changed' >>"$root/etc/lazaret/lazaret.toml"
    inside sh -c 'exec dpkg -i /packages/*.deb' >"$root.log" 2>&1 || wrong "not upgraded: $(tail "$root.log")"
    is_version "$version"
    [ "$(tail -n 1 "$root/etc/lazaret/lazaret.toml")" = '# changed' ] || wrong "the upgrade has changed the configuration"
    bubblewrap
    runs bwrap
    inside dpkg --purge bubblewrap >"$root.log" 2>&1

    names=$(inside dpkg-query -W -f '${Package}\n' 'lazaret*' 'liblazaret*' | sort -u)
    # shellcheck disable=SC2086
    inside dpkg --remove $names >"$root.log" 2>&1 || wrong "not removed: $(tail "$root.log")"
    left removed /etc/lazaret /etc/lazaret/lazaret.toml \
        /var/lib/systemd/deb-systemd-helper-enabled/lazaret-doctor.service.dsh-also
    # shellcheck disable=SC2086
    inside dpkg --purge $names >"$root.log" 2>&1 || wrong "not purged: $(tail "$root.log")"
    left purged
    say "$codename: upgraded, removed and purged"
    gone
done
