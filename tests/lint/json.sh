#!/bin/sh
# SPDX-License-Identifier: MIT
# json.sh - JSON is written and compared by core/base/json* and core/wire only: no other file of core has
# a string in which an escaped quote stands beside a brace, a bracket, a colon or a comma.
#
# The lines below name the files that may, and why; a file that needs its line no more is reported.
. "${srcdir:-.}/tests/lint/lib.sh"

exceptions='
core/audit/audit_chain.c      the hash covers the bytes of a line: they are the format of the chain
core/audit/audit_line.c       members only; the chain writes the line around them
core/doctor/backend.c         the parameters of the tool that the doctor calls, a constant
core/doctor/credential.c      TOML, the credential that the doctor tries
core/doctor/network.c         TOML, the list that the doctor tries
core/network/denials.c        TOML, the line that would permit a name
core/network/rule.c           TOML and JSON that messages show as examples
core/session/result.c         the result when there is no memory to write it, a constant
core/settings/schema.c        TOML, a default
core/settings/values_secrets.c TOML that messages show as examples
core/base/limits.c            the default limits, a constant
'

found=$(lint_files -path './core/*.[ch]' | grep -vE '^core/(base/json|wire/|include/)' |
    awk -v top="$srcdir" -v exceptions="$exceptions" '
    BEGIN {
        n = split(exceptions, lines, "\n")
        for (i = 1; i <= n; i++)
            if (split(lines[i], word, " ") > 1) may[word[1]] = 1
        literal = "[{[,]\\\\\"|\\\\\":[^ ]" # a message may have a quoted word before ": "
    }
    {
        number = 0
        while ((getline line <(top "/" $0)) > 0) {
            number++
            if (line ~ /^[ \t]*(\/[*]|[*]([ \/]|$))/) continue # a comment, not *pointer = ...
            sub(/[ \t]\/[*].*/, "", line)                      # nor a pattern of paths
            if (line !~ literal) continue
            used[$0] = 1
            if (!($0 in may))
                printf "%s:%d: JSON in a string: json_write.h writes it, core/wire reads it\n", $0,
                    number
        }
        close(top "/" $0)
    }
    END {
        for (file in may)
            if (!(file in used)) print file ": has no JSON in a string: remove its exception"
        if (NR < 50) print "only " NR " files were found"
    }') || wrong "the files could not be looked at"
[ -z "$found" ] || wrong "$found"
lint_end
