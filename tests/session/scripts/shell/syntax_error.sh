# SPDX-License-Identifier: MIT
echo "the lines before run"
trap 'echo "ends with $?"' EXIT
exec 2>&1
shopt -s expand_aliases
alias greet='echo hello'
greet
if true; then
    echo yes
done
echo "not here"
