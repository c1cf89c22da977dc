#!/bin/sh
# SPDX-License-Identifier: MIT
# soak.sh - a short run of the soak; scripts/soak makes long ones.
exec ./lazaret-soak "${LAZARET_TEST_SOAK:-8}"
