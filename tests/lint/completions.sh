#!/bin/sh
# SPDX-License-Identifier: MIT
# completions.sh - docs/completions is what the tables of options and subcommands make; it has every
# subcommand and every option that the help has; bash and fish complete with it, and zsh can read it.
. "${srcdir:-.}/tests/lint/lib.sh"

command=./lazaret
[ -x "$command" ] && [ -x ./write-completions ] || { wrong "$command or write-completions was not built"; lint_end; }
completions=$(cd "$srcdir/docs/completions" && pwd)

# file SHELL - its file.
file() {
    case $1 in
        bash) echo "$completions/lazaret" ;;
        zsh) echo "$completions/_lazaret" ;;
        fish) echo "$completions/lazaret.fish" ;;
    esac
}

subcommands=$("$command" --help | sed -n '/^subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$subcommands" ] || wrong "lazaret --help lists no subcommand"
# has SHELL TEXT PATTERN... - the file has it.
has() {
    grep -qE -e "$3" "$(file "$1")" || wrong "docs/completions for $1: $2 is missing"
}
for shell in bash zsh fish; do
    # The comparison has to be able to fail.
    ! { ./write-completions $shell; echo more; } | cmp -s - "$(file $shell)" ||
        wrong "completions with another line at their end were taken for the same"
    ./write-completions $shell | diff -u "$(file $shell)" - ||
        wrong "docs/completions for $shell is not what core/cli says: run make docs"
done
for name in $subcommands; do
    has bash "$name" "^        $name\) options="
    has zsh "$name" "^        '$name:"
    has fish "$name" "__fish_use_subcommand -f -a $name -d "
    for option in $("$command" "$name" --help | grep -oE '^  .{22}' | grep -oE '(^| )--?[a-z][a-z-]*' | tr -d ' '); do
        letters=${option#-}
        case $option in
            --*)
                has bash "$option" "options=.* $option[ '\"]"
                has zsh "$option" "^ +'[*]$option\["
                has fish "$option" " -l ${option#--} "
                ;;
            *)
                has bash "$option" "options=.* $option[ '\"]"
                has zsh "$option" "^ +'[*]$option\["
                has fish "$option" " -s $letters "
                ;;
        esac
    done
done

# words SHELL LINE - what the shell completes at the end of the line, one a line.
words() {
    case $1 in
        bash)
            bash --norc -c '
                lazaret() { printf "%s\n" "backend  bwrap x" "runtime  lua x"; }
                . "$1"
                read -ra COMP_WORDS <<<"$2"
                [[ $2 != *" " ]] || COMP_WORDS+=("")
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _lazaret
                [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' bash "$(file bash)" "$2" 2>&1
            ;;
        fish)
            HOME=$work fish --no-config -c "
                function lazaret; printf '%s\n' 'backend  bwrap x' 'runtime  lua x'; end
                source '$(file fish)'
                complete -C '$2'" 2>&1 | cut -f 1
            ;;
    esac
}
# completes LINE WORDS - exactly these words.
completes() {
    for shell in bash fish; do
        command -v $shell >/dev/null 2>&1 || continue
        found=$(words $shell "$1" | sort | tr '\n' ' ')
        [ "$found" = "$2" ] || wrong "$shell: \"$1\" is completed to: $found"
    done
}
work=$(mktemp -d "${TMPDIR:-/tmp}/lint-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
: >report.py
completes 'lazaret pl' 'plan plugins '
completes 'lazaret --ver' '--verbose --version '
completes 'lazaret run --arti' '--artifacts '
completes 'lazaret plan --pla' '--platform '
completes 'lazaret plan --arti' ''
completes 'lazaret plan --platform d' 'darwin '
completes 'lazaret --json plan --platform w' 'windows '
completes 'lazaret run --runtime ' 'lua '
completes 'lazaret run --backend b' 'bwrap '
completes 'lazaret run --config rep' 'report.py '
completes 'lazaret run rep' 'report.py '
completes 'lazaret mcp --install cl' 'claude claude-desktop '
completes 'lazaret help do' 'doctor '
completes 'lazaret audit sh' 'show '
completes 'lazaret tools --format ja' 'javascript '
cd - >/dev/null || exit 1

missing=
if command -v zsh >/dev/null 2>&1; then
    zsh -n "$(file zsh)" || wrong "zsh cannot read its completions"
else
    missing="$missing zsh"
fi
command -v fish >/dev/null 2>&1 || missing="$missing fish"
command -v bash >/dev/null 2>&1 || missing="$missing bash"
if [ -n "$missing" ]; then
    [ "$lint_failed" -eq 0 ] || lint_end
    for shell in $missing; do
        lint_skip "$shell" "$shell is not installed; the others complete"
    done
fi
lint_end
