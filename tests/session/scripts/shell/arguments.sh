#!/bin/bash
# SPDX-License-Identifier: MIT
echo "$# arguments, ${0##*/} ${BASH_SOURCE[0]##*/} $-"
printf '<%s>' "$@"
echo
while [ $# -gt 0 ]; do
    case $1 in
        --number) number=$2; shift ;;
        *) rest+=("$1") ;;
    esac
    shift
done
echo "$number, ${rest[*]}, $LINENO"
