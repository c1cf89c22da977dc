#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes ./configure; needs autoconf, automake, libtool and pkg-config.
set -e
cd "$(dirname "$0")"
mkdir -p m4 build-aux
exec autoreconf --install --force
