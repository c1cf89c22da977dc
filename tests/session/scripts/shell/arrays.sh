# SPDX-License-Identifier: MIT
declare -A count
words=(the cat the dog the end)
for word in "${words[@]}"; do ((count[$word]++)); done
for word in $(printf '%s\n' "${!count[@]}" | sort); do echo "$word ${count[$word]}"; done
numbers=($(seq 10 -3 1))
echo "${#numbers[@]} ${numbers[@]:1:2} ${numbers[-1]} ${!numbers[*]}"
unset 'numbers[1]'
echo "${numbers[@]/4/four}"
mapfile -t lines < <(printf 'one\ntwo\nthree\n')
echo "${lines[1]}" "${#lines[@]}"
