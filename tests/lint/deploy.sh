#!/bin/sh
# SPDX-License-Identifier: MIT
# deploy.sh - what config/ has for many machines is read by those who are to read it, and agrees with the command
# and with docs/workers.md (deploy.py); systemd takes the units.
. "${srcdir:-.}/tests/lint/lib.sh"

python3 -c 'import yaml' 2>/dev/null || lint_skip yaml "python3-yaml"
PYTHONDONTWRITEBYTECODE=1 python3 "$srcdir/tests/lint/deploy.py" "$srcdir" ./lazaret >deploy-found.tmp 2>&1
found=$(cat deploy-found.tmp)
rm -f deploy-found.tmp
[ -z "$found" ] || wrong "$found"

# As systemd reads them; programs of an installation are not there yet, and manual pages may be left out.
if command -v systemd-analyze >/dev/null 2>&1; then
    mkdir -p deploy-units.tmp
    for unit in doctor serve worker; do
        sed 's,@subgroup@,/bin/true,; s,@bindir@/lazaret,/bin/true,; /^Documentation=/d' \
            "$srcdir/config/systemd/lazaret-$unit.service.in" >"deploy-units.tmp/lazaret-$unit.service"
    done
    complaints=$(SYSTEMD_UNIT_PATH=$PWD/deploy-units.tmp: systemd-analyze verify deploy-units.tmp/*.service 2>&1)
    [ -z "$complaints" ] || wrong "$complaints"
    sed -i 's/^KillMode=.*/KillMode=nonsense/' deploy-units.tmp/lazaret-worker.service
    SYSTEMD_UNIT_PATH=$PWD/deploy-units.tmp: systemd-analyze verify deploy-units.tmp/lazaret-worker.service 2>&1 |
        grep -qi 'kill mode' || wrong 'systemd-analyze takes anything'
    rm -rf deploy-units.tmp
fi
sh -n "$srcdir/config/slurm/lazaret-worker.sbatch" || wrong 'the script of Slurm'
sh -n "$srcdir/config/image/build" || wrong 'config/image/build'
lint_end
