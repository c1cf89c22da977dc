#!/bin/sh
# SPDX-License-Identifier: MIT
# audit.sh - the tables of docs/audit.md have exactly the events of the audit log.
. "${srcdir:-.}/tests/lint/lib.sh"

kinds='session|execute|check|tool|auth|message|limit|log|network'
in_code=$(grep -ohE "\"($kinds)_[a-z_]+\"" "$srcdir/core/audit/audit.c" \
    "$srcdir/core/session/audit_events.c" | tr -d '"' | sort -u)
in_text=$(sed -n 's/^| \(`[^|]*`\) |.*/\1/p' "$srcdir/docs/audit.md" |
    grep -oE "\`($kinds)_[a-z_]+\`" | tr -d '`' | sort -u)
fields='session_id tool_calls'
[ -n "$in_code" ] || wrong "no event was found in the sources"
for event in $in_code; do
    case " $fields " in
        *" $event "*) continue ;;
    esac
    printf '%s\n' "$in_text" | grep -qx "$event" || wrong "docs/audit.md does not explain $event"
done
for event in $in_text; do
    case " $fields " in
        *" $event "*) continue ;;
    esac
    printf '%s\n' "$in_code" | grep -qx "$event" || wrong "docs/audit.md has $event, the log has not"
done
lint_end
