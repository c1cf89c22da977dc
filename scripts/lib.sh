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
    libjavascriptcoregtk-4.1-dev liblua5.4-dev bash-builtins libc-ares-dev libidn2-dev libmicrohttpd-dev
    libcurl4-gnutls-dev libgnutls28-dev libnats-dev"
packages_check="libcunit1-dev systemd python3-numpy python3-matplotlib python3-jsonschema python3-yaml lua5.4 lua-lpeg
    golang-github-burntsushi-toml-dev strace g++ mandoc xz-utils util-linux procps guile-3.0
    zsh fish git patch curl wget openssl iproute2 openssh-client openssh-server postgresql musl-tools nodejs
    python3-pip python3-setuptools python3-wheel python3-requests python3-httpx r-cran-curl r-cran-httr2
    nats-server"
packages_clients="nodejs npm openssl r-cran-jsonlite r-cran-processx python3-build mypy python3-pandas
    python3-pip python3-pydantic python3-setuptools python3-wheel"
packages_mcp_clients="nodejs npm"
# To make packages for other systems.
packages_packages="patchelf binutils dpkg-dev xz-utils python3 crossbuild-essential-arm64 qemu-user
    debian-archive-keyring"
# To try something in a fresh Debian.
packages_fresh="debootstrap wget"
# To build for arm64 and run unit tests in qemu-user.
packages_arm64="crossbuild-essential-arm64 qemu-user debian-archive-keyring"
# To build for Windows and run the tests in Wine.
packages_windows="autoconf automake libtool libltdl-dev autoconf-archive pkg-config gcc libc6-dev make
    gcc-mingw-w64-x86-64-posix wine wine64 dpkg-dev xz-utils libpython3-dev r-base-core"

# What the packages of packages_build are called elsewhere; "-": there is none, or none is needed. Names
# that were not tried: CONTRIBUTING.md says where the build was.
#   Debian              dnf                 pacman            zypper              apk               brew
packages_names='
    autoconf            autoconf            autoconf          autoconf            autoconf          autoconf
    automake            automake            automake          automake            automake          automake
    libtool             libtool             libtool           libtool             libtool           libtool
    libltdl-dev         libtool-ltdl-devel  libtool           libtool             libltdl           libtool
    autoconf-archive    autoconf-archive    autoconf-archive  autoconf-archive    autoconf-archive  autoconf-archive
    pkg-config          pkgconf-pkg-config  pkgconf           pkgconf-pkg-config  pkgconf           pkgconf
    gcc                 gcc                 gcc               gcc                 gcc               -
    libc6-dev           glibc-devel         glibc             glibc-devel         musl-dev          -
    make                make                make              make                make              -
    libuv1-dev          libuv-devel         libuv             libuv-devel         libuv-dev         libuv
    libcjson-dev        cjson-devel         cjson             cJSON-devel         cjson-dev         cjson
    nettle-dev          nettle-devel        nettle            libnettle-devel     nettle-dev        nettle
    libseccomp-dev      libseccomp-devel    libseccomp        libseccomp-devel    libseccomp-dev    -
    bubblewrap          bubblewrap          bubblewrap        bubblewrap          bubblewrap        -
    r-base-dev          R-core-devel        r                 R-base-devel        R-dev             r
    libpython3-dev      python3-devel       python            python3-devel       python3-dev       python
    libjavascriptcoregtk-4.1-dev javascriptcoregtk4.1-devel webkit2gtk-4.1 webkit2gtk3-devel webkit2gtk-4.1-dev -
    liblua5.4-dev       lua-devel           lua54             lua54-devel         lua5.4-dev        lua@5.4
    bash-builtins       bash-devel          bash              bash-devel          bash-dev          bash
    libc-ares-dev       c-ares-devel        c-ares            c-ares-devel        c-ares-dev        -
    libidn2-dev         libidn2-devel       libidn2           libidn2-devel       libidn2-dev       libidn2
    libmicrohttpd-dev   libmicrohttpd-devel libmicrohttpd     libmicrohttpd-devel libmicrohttpd-dev libmicrohttpd
    libcurl4-gnutls-dev libcurl-devel       curl              libcurl-devel       curl-dev          curl
    libgnutls28-dev     gnutls-devel        gnutls            libgnutls-devel     gnutls-dev        -
    libnats-dev         cnats-devel         -                 -                   -                 -'
packages_managers='dnf pacman zypper apk brew' # the columns

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

# packages_told LIST - without apt-get: prints the command that installs the list with the manager that
# is there, and what the system has not. It asks nobody what is installed: configure finds out.
packages_told() {
    column=1
    for manager in $packages_managers; do
        column=$((column + 1))
        command -v "$manager" >/dev/null 2>&1 || continue
        names=$(printf '%s\n' "$packages_names" | awk -v column="$column" -v list="$1" '
            BEGIN { n = split(list, words); for (i = 1; i <= n; i++) wanted[words[i]] = 1 }
            $1 in wanted && $column != "-" && !said[$column]++ { printf " %s", $column }')
        case $manager in
            dnf | zypper) told="sudo $manager install$names" ;;
            pacman) told="sudo pacman -S --needed$names" ;;
            apk) told="sudo apk add$names" ;;
            brew) told="brew install$names" ;;
        esac
        say "the build needs these packages (their names were not tried):"
        echo "    $told"
        case $manager in
            apk) echo "    with musl lazaret compiles and was not run; there is no package of it" ;;
            brew) echo "    of the backends there is seatbelt alone: no namespaces, Landlock, control groups" ;;
        esac
        return 0
    done
    say "this system has none of apt-get, $packages_managers: configure says what is missing"
}

# Installs the missing packages of the list, or prints how to and exits with status 2.
packages_need() {
    if ! command -v apt-get >/dev/null 2>&1; then
        packages_told "$1"
        return 0
    fi
    missing=$(packages_missing "$1")
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
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
# configure itself. Without the network what takes the types off TypeScript is missing, which is said.
build_prepared() {
    [ -w "$top" ] || die "$top cannot be written by $(id -un 2>/dev/null || id -u); clone it anew"
    mkdir -p "$top/build" || exit 1
    packages_need "$1"
    "$top/scripts/javascript-libraries" --optional || exit 1
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

# for_machine MACHINE ROOT [PACKAGE...] - what configure is given to build for Debian 12 on x86_64 or aarch64, with the
# libraries that Debian has today: $machine_cc, $machine_run (runs a program) and $machine_bash (the version of bash),
# and the environment of pkg-config. ROOT is made by scripts/sysroot, with these packages as well.
for_machine() {
    machine_is=$1 machine_root=$2
    shift 2
    case $machine_is in
        x86_64) set -- amd64 "$machine_root" "$@" ;;
        aarch64) set -- arm64 "$machine_root" "$@" ;;
    esac
    "$top/scripts/sysroot" bookworm "$@" libltdl-dev libcjson-dev nettle-dev libc-ares-dev libidn2-dev \
        libmicrohttpd-dev libcurl4-gnutls-dev liblua5.4-dev libseccomp-dev libcunit1-dev libuv1-dev libpython3-dev \
        bash bash-builtins || return 1
    machine_libraries=lib/$machine_is-linux-gnu
    if [ "$machine_is" = "$(uname -m)" ]; then
        machine_cc="${CC-gcc} --sysroot=$machine_root"
        machine_run=$(echo "$machine_root"/lib*/ld-linux-*.so.*)
        machine_run="$machine_run --library-path $machine_root/$machine_libraries:$machine_root/usr/$machine_libraries"
    else
        machine_cc="$machine_is-linux-gnu-gcc --sysroot=$machine_root"
        machine_run="qemu-$machine_is -L $machine_root"
    fi
    # shellcheck disable=SC2016
    machine_bash=$($machine_run "$machine_root/bin/bash" -c \
        'echo "${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}.${BASH_VERSINFO[2]}"') || return 1
    PKG_CONFIG=pkg-config PKG_CONFIG_SYSROOT_DIR=$machine_root
    PKG_CONFIG_LIBDIR=$machine_root/usr/$machine_libraries/pkgconfig:$machine_root/usr/lib/pkgconfig
    PKG_CONFIG_LIBDIR=$PKG_CONFIG_LIBDIR:$machine_root/usr/share/pkgconfig
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
