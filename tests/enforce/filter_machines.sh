#!/bin/sh
# SPDX-License-Identifier: MIT
# filter_machines.sh - prints, as C, what test_filter_machines.c compares: the filters of system calls for each machine,
# the numbers that calls have there, and the numbers that the rules call by names of C.
#
# usage: CC_FOR_BUILD=... filter_machines.sh FILTER-MAKE FILTER_RULES.C
#
# The numbers of calls are those of the kernel's headers, and not of libseccomp, which has made the filters. Those of
# arm64 are the common ones (asm-generic), which are on every machine; those of x86_64 only on such a one.
set -eu
make=$1 rules=$2

# calls MACHINE HEADER FLAGS... - prints a table of the calls in a header of the kernel.
calls() {
    calls_name=$1 calls_header=$2
    shift 2
    echo "static const struct machine_call ${calls_name}_calls[] = {"
    {
        echo "#include <$calls_header>"
        echo "#include <$calls_header>" | $CC_FOR_BUILD "$@" -E -dM - |
            sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/{"\1", __NR_\1},/p' | grep -vE '"(arch_specific_syscall|syscalls)"'
    } | $CC_FOR_BUILD "$@" -E -P - | grep '^{"'
    echo '};'
}

for cpu in x86_64 aarch64; do
    "$make" $cpu | sed -e '/^#if/,/^#endif/d' -e "s/ filter_\([a-z_]*\)\[\]/ ${cpu}_\1[]/"
done
# As arm64 defines them in <asm/unistd.h>.
calls aarch64 asm-generic/unistd.h -D__ARCH_WANT_RENAMEAT -D__ARCH_WANT_NEW_STAT -D__ARCH_WANT_SET_GET_RLIMIT \
    -D__ARCH_WANT_TIME32_SYSCALLS -D__ARCH_WANT_SYS_CLONE3 -D__ARCH_WANT_MEMFD_SECRET
if $CC_FOR_BUILD -E -dM - </dev/null | grep __x86_64__ >/dev/null; then
    calls x86_64 asm/unistd_64.h
    echo '#define HAVE_X86_64_CALLS'
fi
echo 'static const struct machine_number machine_numbers[] = {'
sed -n -e 's,^ *\(IOCTL\|QUERY\|PRCTL\|FCNTL\|OPTION\)(\([0-9a-fx]*\)).*/\* *\([A-Z_0-9]*\).*,#ifdef \3\n{"\3"\, \3\, \2}\,\n#endif,p' \
    -e 's,^ *SETS([0-9]*\, \([0-9]*\)).*/\* *\([A-Z_0-9]*\).*,#ifdef \2\n{"\2"\, \2\, \1}\,\n#endif,p' "$rules"
echo '};'
