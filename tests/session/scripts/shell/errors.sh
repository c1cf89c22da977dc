# SPDX-License-Identifier: MIT
exec 2>&1
nosuchcommand
echo "status $?"
cat /nonexistent | wc -l
echo "${PIPESTATUS[*]}"
echo $((1 / 0))
echo "still here"
ls /nonexistent || echo "failed with $?"
f() { return 300; }
f
echo $?
break
local x=1
unset -v BASH_VERSINFO
readonly fixed=1
(fixed=2; echo "not here")
echo "after $?"
: ${missing:?is needed}
echo "not here"
