# SPDX-License-Identifier: MIT
exec 2>&1
for i in 3 1 2; do (sleep 0.0$i; exit $i) & pids+=($!); done
for pid in "${pids[@]}"; do wait "$pid"; echo "status $?"; done
sleep 100 & jobs | sed 's/  */ /g'
kill $!; wait $! 2>/dev/null; echo "killed: $?"
coproc both { tr a-z A-Z; }
echo 'a line' >&"${both[1]}"; exec {both[1]}>&-; read -r answer <&"${both[0]}"; echo "$answer"
seq 20 | xargs -P 4 -n 5 sh -c 'echo $(($1 + $5))' sh | sort -n | tr '\n' ' '
echo; (trap 'echo in the subshell' EXIT; exit 4); echo $?
{ sleep 0.1; echo last; } &
wait; disown -a; set -m; true & wait $!; echo "with job control: $?"
