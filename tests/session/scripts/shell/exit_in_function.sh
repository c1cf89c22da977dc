# SPDX-License-Identifier: MIT
trap 'echo "ends with $? in ${FUNCNAME[*]:-no function}"' EXIT
stop() { echo stopping; exit 7; }
outer() { (exit 3); echo "a subshell gave $?"; stop; echo "not here"; }
outer
