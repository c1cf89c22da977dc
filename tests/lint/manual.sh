#!/bin/sh
# SPDX-License-Identifier: MIT
# manual.sh - the manual page is well formed, and names every option and subcommand of the command,
# and none that it does not have.
. "${srcdir:-.}/tests/lint/lib.sh"

page=$srcdir/docs/lazaret.1
command=./lazaret
[ -x "$command" ] || { wrong "$command was not built"; lint_end; }

subcommands=$("$command" --help | sed -n '/^subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$subcommands" ] || wrong "lazaret --help lists no subcommand"

in_help=$({
    "$command" --help
    for name in $subcommands; do
        "$command" "$name" --help
    done
} | grep -oE '^  .{22}' | grep -oE '(^| )--?[a-z][a-z-]*' | tr -d ' ' | sort -u)
in_page=$(sed -n 's/^\.It Fl \(.*\)/\1/p' "$page" | grep -oE '(^|Fl )-?[a-z][a-z-]*' |
    sed 's/^Fl //; s/^/-/' | sort -u)
[ -n "$in_help" ] || wrong "lazaret --help lists no option"

for option in $in_help; do
    printf '%s\n' "$in_page" | grep -qxe "$option" || wrong "lazaret.1 does not explain $option"
done
for option in $in_page; do
    printf '%s\n' "$in_help" | grep -qxe "$option" ||
        wrong "lazaret.1 explains $option, which the command does not have"
done
for name in $subcommands; do
    grep -qE "^\.(Ss|It) .*\b$name\b" "$page" || wrong "lazaret.1 does not explain lazaret $name"
done

if command -v mandoc >/dev/null 2>&1; then
    complaints=$(mandoc -Tlint -Wwarning "$page" 2>&1) || wrong "$complaints"
else
    [ "$lint_failed" -eq 0 ] || lint_end
    lint_skip mandoc "mandoc is not installed; the options agree"
fi
lint_end
