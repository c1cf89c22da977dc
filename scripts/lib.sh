# SPDX-License-Identifier: MIT
# lib.sh - what the scripts share: steps with their times, packages, the build. For POSIX sh; read
# with `.` by a script that has changed to the top directory of the source.
#
# Each step writes to a log of its own in build/; one line is printed for each step, and the end of
# the log of a failed one. Nothing here needs git, so a tree from an archive works too.

umask 022 # lazaret refuses plugins that others can write
LC_ALL=C.UTF-8
export LC_ALL

script=$(basename "$0")
jobs=$(nproc 2>/dev/null || echo 2)

# To build: what configure looks for, and the interpreters. To check: what the tests look for; the
# tests of clients/ look for more.
packages_build="autoconf automake libtool libltdl-dev autoconf-archive pkg-config gcc libc6-dev
    make libuv1-dev libcjson-dev nettle-dev libseccomp-dev bubblewrap r-base-dev libpython3-dev
    liblua5.4-dev bash-builtins libc-ares-dev libidn2-dev libmicrohttpd-dev libcurl4-gnutls-dev"
packages_check="libcunit1-dev systemd python3-numpy python3-matplotlib python3-jsonschema lua5.4 lua-lpeg
    golang-github-burntsushi-toml-dev strace g++ mandoc xz-utils util-linux procps guile-3.0
    zsh fish git patch curl wget openssl iproute2 openssh-client openssh-server postgresql musl-tools nodejs
    python3-pip r-cran-curl"
packages_clients="nodejs npm r-cran-jsonlite r-cran-processx python3-build mypy python3-pandas
    python3-pip python3-pydantic python3-setuptools python3-wheel"
packages_mcp_clients="nodejs npm"
# To make packages for other systems.
packages_packages="patchelf binutils dpkg-dev xz-utils python3 crossbuild-essential-arm64 qemu-user
    debian-archive-keyring"
# To make packages of Debian, and try them in a fresh one.
packages_deb="debhelper lintian dpkg-dev debootstrap"
# To build for arm64 and run unit tests in qemu-user.
packages_arm64="crossbuild-essential-arm64 qemu-user debian-archive-keyring"
# To build for Windows and run the tests in Wine.
packages_windows="autoconf automake libtool libltdl-dev autoconf-archive pkg-config gcc libc6-dev make
    gcc-mingw-w64-x86-64-posix wine wine64 dpkg-dev xz-utils libpython3-dev r-base-core"

say() {
    printf '%s: %s\n' "$script" "$*"
}

die() {
    say "$*" >&2
    exit 1
}

# step NAME COMMAND... - runs the command with its output in build/NAME.log. Wall and CPU time are
# printed.
step() {
    step_name=$1
    shift
    step_log=$top/build/$step_name.log
    printf '  %-14s ' "$step_name"
    step_start=$(date +%s)
    step_status=0
    (
        step_inner=0
        "$@" || step_inner=$?
        times >"$step_log.times"
        exit $step_inner
    ) >"$step_log" 2>&1 </dev/null || step_status=$?
    step_cpu=$(tr 'ms' '  ' <"$step_log.times" 2>/dev/null |
        awk '{ sum += $1 * 60 + $2 + $3 * 60 + $4 } END { printf "%d", sum }')
    rm -f "$step_log.times"
    step_time=$(($(date +%s) - step_start))
    if [ "$step_status" -eq 0 ]; then
        printf 'ok %6d s %6s s of CPU\n' "$step_time" "$step_cpu"
        return 0
    fi
    printf 'FAILED %2d s, status %d; the end of %s:\n' "$step_time" "$step_status" "$step_log"
    tail -n "${step_tail:-40}" "$step_log" | sed 's/^/    | /'
    return "$step_status"
}

# Prints the missing packages of the list. Without dpkg it prints none, and configure reports what
# is missing.
packages_missing() {
    command -v dpkg-query >/dev/null 2>&1 || return 0
    for package in $1; do
        case $package in
            pkg-config | npm) command -v "$package" >/dev/null 2>&1 && continue ;;
        esac
        case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
            installed) ;;
            *) printf '%s ' "$package" ;;
        esac
    done
}

packages_install() {
    export DEBIAN_FRONTEND=noninteractive
    # Without package lists, or with outdated ones, the first try fails.
    # shellcheck disable=SC2086
    apt-get install -y --no-install-recommends $1 && return 0
    apt-get update || return 1
    # shellcheck disable=SC2086
    apt-get install -y --no-install-recommends $1
}

# Installs the missing packages of the list, or prints how to and exits with status 2.
packages_need() {
    missing=$(packages_missing "$1")
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
        say "packages are missing; install them with" >&2
        echo "    sudo apt-get install --no-install-recommends $missing" >&2
        exit 2
    fi
    say "installing $missing"
    step packages packages_install "$missing" || exit 2
}

# configure_in DIRECTORY PREFIX OPTIONS... - configures once, in build/NAME ($configure: by this
# script and not the tree's own); later runs leave that to make. Paths are relative, so that a copy
# of source and build works too. Uses ccache if it is installed.
configure_in() {
    mkdir -p "$top/$1"
    cd "$top/$1" || return 1
    configure_prefix=$top/$2
    shift 2
    [ ! -f Makefile ] || return 0
    if [ -z "${CC-}" ] && command -v ccache >/dev/null 2>&1; then
        set -- CC="ccache gcc" "$@"
    fi
    # configure would choose bash, in which libtool takes half as long again as in dash
    CONFIG_SHELL=/bin/sh /bin/sh "${configure:-../../configure}" --prefix="$configure_prefix" "$@"
}

make_in() {
    make_directory=$1
    shift
    make -C "$top/$make_directory" -j"$jobs" "$@"
}

# build_prepared PACKAGES - the first steps of quickstart and check: what the build needs, and
# configure itself.
build_prepared() {
    [ -w "$top" ] || die "$top cannot be written by $(id -un 2>/dev/null || id -u); clone it anew"
    mkdir -p "$top/build" || exit 1
    packages_need "$1"
    if [ ! -f "$top/configure" ] || [ ! -f "$top/Makefile.in" ]; then
        step autogen "$top/autogen.sh" || exit 1
    elif [ -f "$top/build/tree/Makefile" ]; then
        # What automake made may be older than what it is made from. Two builds must not both see that.
        step refresh make_in build/tree am--refresh || exit 1
    fi
}

# The next ones: builds in build/tree, installs in build/stage, and makes build/lazaret a link to
# the command there.
build_all() {
    step configure configure_in build/tree build/stage &&
        step make make_in build/tree all &&
        step install make_in build/tree install &&
        ln -sfn stage/bin/lazaret "$top/build/lazaret"
}

# for_arm64 ROOT [PACKAGE...] - what configure is given to build for Debian 12 on arm64: $arm64_cc, $arm64_run (runs
# a program) and $arm64_bash (the version of bash), and the environment of pkg-config. ROOT is made by
# scripts/sysroot, with these packages as well.
for_arm64() {
    "$top/scripts/sysroot" bookworm arm64 "$@" libltdl-dev libcjson-dev nettle-dev libc-ares-dev libidn2-dev \
        libmicrohttpd-dev libcurl4-gnutls-dev liblua5.4-dev libseccomp-dev libcunit1-dev libuv1-dev libpython3-dev \
        bash bash-builtins || return 1
    arm64_cc="aarch64-linux-gnu-gcc --sysroot=$1"
    arm64_run="qemu-aarch64 -L $1"
    # shellcheck disable=SC2016
    arm64_bash=$($arm64_run "$1/bin/bash" -c 'echo "${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}.${BASH_VERSINFO[2]}"') ||
        return 1
    PKG_CONFIG=pkg-config PKG_CONFIG_SYSROOT_DIR=$1
    PKG_CONFIG_LIBDIR=$1/usr/lib/aarch64-linux-gnu/pkgconfig:$1/usr/lib/pkgconfig:$1/usr/share/pkgconfig
    export PKG_CONFIG PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
}

# ---- results of tests ----------------------------------------------------------------------------

# results DIRECTORY - lists the result files that the driver has written.
results() {
    find "$1" -name 'lazaret-*.*' -prune -o -name '*.trs' -print 2>/dev/null
}

# skips_in DIRECTORY - prints REASON, a tab and TEST for each test that was skipped, and for each part
# of one: programs say "SKIP NAME: WHY" (tests/unit/unit.h, tests/session/lib.sh).
skips_in() {
    results "$1" | while read -r file; do
        awk -v test="${file#"$1"/}" '
            BEGIN { sub(/\.trs$/, "", test); sub(/^tests\/as\//, "", test) }
            FILENAME ~ /\.trs$/ { is_skipped += /^:global-test-result: SKIP$/; next }
            /^ *SKIP / && !/\(exit status: [0-9]+\)/ {
                sub(/^ *SKIP /, "")
                print $0 "\t" test
                n++
            }
            END { if (is_skipped && !n) print "it does not say why\t" test }' "$file" "${file%.trs}.log"
    done
}

# skips_told - of what skips_in has printed, one line for each reason, with its tests.
skips_told() {
    LC_ALL=C sort -u | awk -F '\t' '
        $1 != last { if (NR > 1) print line ")"; line = "  skipped: " $1 " ("; between = "" }
        { line = line between $2; between = ", "; last = $1 }
        END { if (NR) print line ")" }'
}
