# SPDX-License-Identifier: MIT
# debian.sh - fresh systems of Debian, for trying what is installed there. For POSIX sh; read with `.`
# after lib.sh, by a script that has changed to the top directory of the source.
#
# debootstrap makes a system once (build/debian/CODENAME.tar, for a week), and so does what is installed there;
# each copy of it is unpacked in seconds. Commands in it have the processes, mounts and root directory of namespaces of their own, by
# pivot_root(2): who is in a chroot gets no user namespace (user_namespaces(7)).

debian_mirror=${DEBIAN_MIRROR-http://deb.debian.org/debian}

# debian_cannot CODENAME - prints why no system of that release can be made here, or nothing.
debian_cannot() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "debootstrap needs root"
    elif ! command -v debootstrap >/dev/null; then
        echo "debootstrap is missing (Debian: apt-get install debootstrap)"
    elif ! wget -q --tries=2 --timeout=20 --spider "$debian_mirror/dists/$1/Release"; then
        echo "$debian_mirror is not reached"
    fi
}

# debian_make CODENAME ROOT [SCRIPT] - a fresh system in a directory, which is emptied first. SCRIPT is run in
# it by sh before it is kept for the next time.
debian_make() {
    debian_tar=$top/build/debian/$1
    [ $# -eq 2 ] || debian_tar=$debian_tar-$(echo "$3" | sha256sum | cut -c 1-12)
    mkdir -p "$top/build/debian"
    find "$top/build/debian" -maxdepth 1 -name '*.tar' -mtime +6 -exec rm -f {} +
    rm -rf --one-file-system "$2"
    if [ -f "$debian_tar.tar" ]; then
        mkdir -p "$2" && tar --numeric-owner --xattrs -C "$2" -xf "$debian_tar.tar"
        return
    fi
    if [ $# -eq 2 ]; then
        debootstrap --variant=minbase "$1" "$2" "$debian_mirror" >"$2.log" 2>&1 ||
            { tail -n 5 "$2.log" >&2; return 1; }
    else
        (debian_make "$1" "$2") && debian_inside "$2" sh -ec "$3" >"$2.log" 2>&1 ||
            { tail -n 5 "$2.log" >&2; return 1; }
    fi
    tar --one-file-system --numeric-owner --xattrs -C "$2" -cf "$debian_tar.part" . &&
        mv "$debian_tar.part" "$debian_tar.tar" || return 1
    rm -f "$2.log"
}

# debian_install PACKAGE... - a script for debian_make that installs them.
debian_install() {
    printf 'apt-get update && apt-get install -y --no-install-recommends %s && apt-get clean' "$*"
}

# debian_inside ROOT COMMAND... - runs it in that system, as its root, with the network of this machine.
debian_inside() {
    debian_root=$1
    shift
    # shellcheck disable=SC2016
    unshare --mount --pid --ipc --fork --kill-child sh -ec '
        root=$1
        shift
        mount --bind "$root" "$root"
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs -o mode=755 tmpfs "$root/run"
        cd "$root"
        pivot_root . .
        umount -l .
        cd /
        exec "$@"' inside "$debian_root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

# debian_files ROOT - prints the files of that system, without what dpkg and apt know and the logs.
debian_files() {
    find "$1" -xdev \( -path "$1/proc" -o -path "$1/sys" -o -path "$1/dev" -o -path "$1/run" \
        -o -path "$1/packages" -o -path "$1/var/lib/dpkg" -o -path "$1/var/lib/apt" \
        -o -path "$1/var/cache" -o -path "$1/var/log" \) -prune -o -printf '/%P\n' | sort
}
