#!/bin/sh
# SPDX-License-Identifier: MIT
# r.sh - the source package for R of scripts/packages in fresh systems of Debian that have R.
#
# usage: tests/packages/r.sh PACKAGES
#
# PACKAGES is the directory of the packages. In each release the package is installed from its file; without the
# program it says how to get it; it finds that of the tarball by LAZARET, and where there are packages of Debian for
# the release, that of the package without PATH: code in Lua and R runs with a tool, as root and as an ordinary user.
# Times are printed. Exit status: 0, 1, 77 where no such system can be made.
set -eu

. "$(dirname "$0")/lib.sh"

# sessions USER BACKEND RUNTIME [VARIABLE=VALUE...]
sessions() {
    sessions_user=$1 sessions_backend=$2 sessions_runtime=$3
    shift 3
    answers "$sessions_user" "$sessions_backend" env "$@" Rscript /opt/session.R "$sessions_runtime"
}

for codename in bookworm trixie; do
    system "$codename" r-base-core r-cran-jsonlite r-cran-processx xz-utils
    cp "$packages"/lazaret_*.tar.gz "$root/opt/lazaret.tar.gz"
    cat >"$root/opt/session.R" <<'END'
library(lazaret)
price <- lazaret_tool("price", "Price of an item", fn = function(item) c(tea = 10.5)[[item]],
                      args = list(item = "character"))
if (nzchar(Sys.getenv("WITHOUT_PATH")))
    Sys.setenv(PATH = "/nonexistent")
session <- Session$new(runtime = commandArgs(TRUE), tools = list(price))
code <- if (commandArgs(TRUE) == "lua") "return price('tea') * 4" else "price('tea') * 4"
result <- session$execute_result(code)
session$close()
stopifnot(result$value == 42)
cat(sprintf("{\"ok\":true,\"value\":42,\"backend\":\"%s\"}\n", result$isolation$backend))
END
    timed "by R CMD INSTALL" inside sh -c 'R CMD INSTALL /opt/lazaret.tar.gz >/opt/log 2>&1' ||
        wrong "R CMD INSTALL: $(tail -n 5 "$root/opt/log")"
    ! as tester Rscript /opt/session.R lua >"$root.log" 2>&1 || wrong "it runs without the program"
    grep -q 'the packages lazaret and lazaret-r' "$root.log" || wrong "it does not say how to get it: $(cat "$root.log")"

    mkdir "$root/opt/tree"
    tar -C "$root/opt/tree" --strip-components=1 -xf "$(echo "$packages"/lazaret-*-linux-"$(uname -m)".tar.xz)"
    for user in root tester; do
        sessions $user landlock lua LAZARET=/opt/tree/bin/lazaret
    done
    release=$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' "$root/etc/os-release")
    mkdir "$root/opt/debs"
    of=+deb${release}_$(dpkg --print-architecture).deb
    cp "$packages"/lazaret_*"$of" "$packages"/lazaret-r_*"$of" "$root/opt/debs/" 2>/dev/null ||
        { say "$codename: no packages of Debian are for it"; gone; continue; }
    inside sh -ec 'apt-get update && apt-get install -y --no-install-recommends bubblewrap /opt/debs/*.deb' >"$root.log" 2>&1 ||
        wrong "the packages of Debian are not installed: $(tail -n 3 "$root.log")"
    for user in root tester; do
        sessions $user bwrap r
        sessions $user bwrap r WITHOUT_PATH=1
    done
    gone
done
