# SPDX-License-Identifier: MIT
set -euo pipefail
trap 'echo "error on line $LINENO: $BASH_COMMAND" >&1' ERR
trap 'echo "leaving with $?"' EXIT
if false; then :; fi
false || echo "a failure that is handled"
value=$(echo one | grep two || true)
echo "nothing found: '$value'"
set -x
: traced
{ set +x; } 2>/dev/null
echo one | grep two | cat
echo "not here"
