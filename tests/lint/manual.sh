#!/bin/sh
# SPDX-License-Identifier: MIT
# manual.sh - the manual pages are well formed. lazaret(1) names every option and subcommand of the
# command, and none that it does not have; every function of the public header has a page of section
# 3 and a comment to make it of; lazaret.toml(5) has every key.
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

# Section 3, made by docs/manual.awk. comments DIRECTORY - functions without a comment.
headers=$srcdir/core/include/lazaret
comments() {
    ${AWK:-awk} -v check=yes -f "$srcdir/docs/manual.awk" "$page" "$headers/error.h" \
        "$headers/plugin.h" "$headers/tool.h" "$headers/lazaret.h" "$1/result.h"
}
made=$(mktemp -d "${TMPDIR:-/tmp}/lint-test.XXXXXXXX") || exit 1
trap 'rm -rf "$made"' EXIT
sed '/^LAZ_EXPORT void laz_result_free/i\
\
LAZ_EXPORT void laz_result_seal(struct laz_result *result);' "$headers/result.h" >"$made/result.h"
comments "$made" | grep -q '^laz_result_seal: ' || wrong "a function without a comment was not found"
complaints=$(comments "$headers") || wrong "lazaret.h or result.h: $complaints"

functions=$(cat "$headers/lazaret.h" "$headers/result.h" | tr '\n' ' ' | grep -oE 'LAZ_EXPORT [^(;]*[(]' | grep -oE 'laz_[a-z0-9_]+[(]$' | tr -d '(')
[ "$(echo "$functions" | wc -l)" -gt 40 ] || wrong "only these functions were found: $functions"
written=
for name in $functions lazaret; do
    file=docs/man3/$name.3
    [ -s "$file" ] || { wrong "there is no $name(3)"; continue; }
    if link=$(sed -n '1s|^[.]so man3/||p' "$file") && [ -n "$link" ]; then
        file=docs/man3/$link
        [ -s "$file" ] || wrong "$name(3) is a link to $link, which is missing"
    else
        written="$written $file"
    fi
    [ "$name" = lazaret ] || grep -qx "[.]Fo $name" "$file" || wrong "$file does not declare $name"
done
for key in $(sed -n 's/^ *KEY("\([a-z]*[.][a-z_][a-z_]*\)".*/\1/p' "$srcdir/core/settings/schema.c") limits.memory; do
    grep -qx "[.]It Va $key" docs/lazaret.toml.5 || wrong "lazaret.toml(5) does not explain $key"
done

if command -v mandoc >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    complaints=$(mandoc -Tlint -Wwarning "$page" docs/lazaret.toml.5 $written 2>&1) || wrong "$complaints"
else
    [ "$lint_failed" -eq 0 ] || lint_end
    lint_skip mandoc "mandoc is not installed; the options agree"
fi
lint_end
