# SPDX-License-Identifier: MIT
read -r first
echo "first: $first"
n=0
while IFS= read -r line || [ -n "$line" ]; do echo "$((++n)) ${line^^}"; done
read -r nothing || echo "the end, $?"
