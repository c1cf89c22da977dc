# SPDX-License-Identifier: MIT
exec 2>&1
trap 'echo got USR1' USR1
trap 'echo got TERM; exit 12' TERM
kill -USR1 $$
(kill -USR1 $$)
sh -c 'kill -USR1 $PPID'
trap '' INT; kill -INT $$; echo "ignored"
{ bash -c 'kill -SEGV $$'; } 2>/dev/null; echo "a child: $?"
trap - USR1; trap -p USR1 TERM
kill $$
echo "not here"
