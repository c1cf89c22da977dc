#!/bin/sh
# SPDX-License-Identifier: MIT
# touch.sh - holds the lists of docs/architecture.md, "What to touch": every file that a list names
# exists, and of the files of core exactly those that it names know the members of the concept by
# name. The members come from the concept's table, comments do not count.
. "${srcdir:-.}/tests/lint/lib.sh"

page=$srcdir/docs/architecture.md
code=$(mktemp) || exit 1
trap 'rm -f "$code"' 0

# FILE<tab>LINE of all of core, without comments.
lint_files -path './core/*.[ch]' | awk -v top="$srcdir" '
    {
        inside = 0
        while ((getline line <(top "/" $0)) > 0) {
            text = ""
            while (line != "") {
                if (inside) {
                    end = index(line, "*/")
                    line = end ? substr(line, end + 2) : ""
                    inside = !end
                } else {
                    start = index(line, "/*")
                    text = text (start ? substr(line, 1, start - 1) : line)
                    line = start ? substr(line, start + 2) : ""
                    inside = start > 0
                }
            }
            if (text ~ /[^ \t]/) print $0 "\t" text
        }
        close(top "/" $0)
    }' >"$code"
[ "$(wc -l <"$code")" -gt 10000 ] || wrong "only $(wc -l <"$code") lines of core were found"

# The rows of the concept's list: "| part | `file`, ... |".
rows() {
    awk -v title="### $1" '/^## / { inside = $0 == "## What to touch" }
        /^### / { mine = inside && $0 == title }
        inside && mine && /^[|]/' "$page"
}

# All rows of a sed pattern in a file, joined by "|".
names() {
    sed -n "$2" "$srcdir/$1" | sort -u | tr '\n' '|' | sed 's/|$//'
}

# has_rows TITLE - the list has all kinds of rows, and its files exist; they are left in $files.
has_rows() {
    for part in table implementation test page; do
        rows "$1" | grep -q "^| $part |" || wrong "docs/architecture.md: '$1' has no row '$part'"
    done
    files=$(rows "$1" | grep -oE '`[a-z]+/[^` ]+`' | tr -d '`' | sort -u)
    for file in $files; do
        case $file in
            *NAME*) [ -d "$srcdir/${file%%/NAME*}" ] || [ -d "$srcdir/$(dirname "$file")" ] ;;
            *) [ -f "$srcdir/$file" ] ;;
        esac || wrong "docs/architecture.md: '$1' names $file, which does not exist"
    done
}

# concept TITLE PATTERN [FILE...] - PATTERN, extended: a line of code knows a member by name. A FILE is
# not compared: what looks like a name is something else, or it is listed though it has no name.
concept() {
    title=$1
    pattern=$2
    shift 2
    has_rows "$title"
    case $pattern in
        *'()'* | *'(|'*) wrong "'$title': no name was found in its table" && return ;;
    esac
    known=$(awk -F '\t' -v pattern="$pattern" '$2 ~ pattern { print $1 }' "$code" | sort -u)
    [ -n "$known" ] || wrong "'$title': no file of core has any of its names"
    for file in $known; do
        case " $(echo $files $*) " in
            *" $file "*) ;;
            *) wrong "docs/architecture.md: '$title' does not list $file, which has: $(awk -F '\t' \
                -v file="$file" -v pattern="$pattern" \
                '$1 == file && match($2, pattern) { print substr($2, RSTART, RLENGTH); exit }' "$code")" ;;
        esac
    done
    for file in $(echo "$files" | grep '^core/'); do
        case " $* " in *" $file "*) continue ;; esac
        echo "$known" | grep -qxF "$file" || wrong "docs/architecture.md: '$title' lists $file, which has none of its names"
    done
}

limit='s/^ *LIMIT(\([A-Z_]*\), "\([a-z_]*\)", \([a-z_]*\),.*'
ids=$(names core/base/limits.h "$limit/\\1/p")
words=$(names core/base/limits.h "$limit/\\2/p")
fields=$(names core/base/limits.h "$limit/\\3/p")
concept "A limit" \
    "LAZ_(ENFORCE|LIMIT)_($ids)([^A-Z_]|\$)|limits(->|[.])($fields)([^a-z_]|\$)|\"($words)\"" \
    core/agent/serve.c core/base/outcome.c core/plan/programs.c # kinds of errors; a program

ids=$(names core/base/outcome.c 's/^ *\[\(LAZ_VERDICT_[A-Z_]*\)\] = .*/\1/p')
concept "A verdict" "($ids)([^A-Z_]|\$)"
ids=$(names core/base/outcome.c 's/^ *\[\(LAZ_OUTCOME_[A-Z_]*\)\] = .*/\1/p')
concept "A kind of error" "($ids)([^A-Z_]|\$)" core/base/outcome.h # has their number
ids=$(names core/base/outcome.c 's/^ *\[\(LAZ_STOP_[A-Z_]*\)\] = .*/\1/p')
concept "A reason to stop an execution" "($ids)([^A-Z_]|\$)"

ids=$(names core/base/enforce.h 's/^ *ROW(\(LAZ_ENFORCE_[A-Z_]*\), .*/\1/p')
words=$(names core/base/enforce.h 's/^ *ROW(LAZ_ENFORCE_[A-Z_]*, "\([a-z]*_[a-z]*\)").*/\1/p')
concept "A property that sandbox.require can name" "($ids)([^A-Z_]|\$)|\"($words)\""

keys=$(names core/settings/schema.c 's/^ *KEY("\([a-z]*[.][a-z_][a-z_.]*\)".*/\1/p' | sed 's/[.]/[.]/g')
concept "A setting" "\"($keys)\"" \
    core/settings/settings.h core/settings/schema.h core/settings/values.c # fields, types

ids=$(sed -n '/^enum laz_message_type {/,/^};/p' "$srcdir/core/wire/message.h" |
    sed -n 's/^ *\(LAZ_MESSAGE_[A-Z_]*\),.*/\1/p' | grep -v '_TYPES$' | tr '\n' '|' | sed 's/|$//')
concept "A message" "($ids)([^A-Z_]|\$)" \
    core/agent/calls.c core/agent/serve.c core/agent/start.c core/agent/template.c

# Names of one letter are other words as well, "doctor" is not a language, and "none" no backend.
words=$(cd "$srcdir/plugins/runtime" && echo */ | tr -d '/' | tr ' ' '\n' | grep .. | grep -vx -e doctor -e program |
    tr '\n' '|')
concept "A runtime" "\"(${words%|})\""
words=$(cd "$srcdir" && sed -n 's/^ *[.]name = "\([a-z-]*\)",.*/\1/p' plugins/backend/*.c |
    grep -vx none | sort -u | tr '\n' '|')
concept "A backend" "\"(${words%|})\"" \
    core/agent/confine.c core/plan/plan.c core/plan/plan_show.c \
    core/wire/table.c # a step of the agent's confinement
has_rows "An error code"
has_rows "A member of the result"
has_rows "An option of an execution" # whose members are words of every day
most=$(echo "$files" | grep -c '^core/')
[ "$most" -le 6 ] || wrong "docs/architecture.md: an option of an execution touches $most files of core"
has_rows "A tool provider" # names.sh: no file of core has the name of one
has_rows "A carrier"
lint_end
