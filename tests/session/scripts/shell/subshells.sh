# SPDX-License-Identifier: MIT
x=outer
(x=inner; cd /; echo "$x $PWD $BASH_SUBSHELL"; exit 5); echo "$? $x ${PWD##*/}"
echo one two | { read -r a b; echo "$b"; }
shopt -s lastpipe; echo three | read -r c; echo "${c:-nothing}"
y=$(exit 9); echo $?
echo "$(trap 'echo cleaned' EXIT; echo body)"
source /dev/stdin <<<'echo "sourced $#"; return 3' ; echo $?
eval 'z=1; for i in 1 2; do [ $i = 2 ] && break; done'; echo $z $i
time -p true 2>/dev/null; exec 3>&1; echo to three >&3; bash -c 'echo $0 $1' zero one
exec sh -c 'echo "in its place"; exit 6'
