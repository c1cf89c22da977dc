# SPDX-License-Identifier: MIT
fib() { local n=$1; if ((n < 2)); then echo "$n"; else echo $(($(fib $((n - 1))) + $(fib $((n - 2))))); fi; }
fib 12
where() { echo "${FUNCNAME[*]} from line ${BASH_LINENO[0]} of ${BASH_SOURCE[1]##*/}"; caller 0 | cut -d' ' -f1,2; }
outer() {
    where
}
outer
by_name() { local -n target=$1; target+=" changed"; }
value=kept; by_name value; echo "$value"
counter() { ((calls++)); }; for i in {1..5}; do counter; done; echo "$calls"
export -f counter; bash -c 'calls=10; counter; echo $calls'
