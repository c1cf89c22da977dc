#!/bin/sh
# SPDX-License-Identifier: MIT
# documents.sh - documents that are installed cite no file of the sources and link only to each
# other; no document links to one that does not exist, or tells to install what no registry has;
# tables have their head, their rows, and in each row as many cells; the tables of
# docs/architecture.md have a row for each of what they list; README.md leads to each page of docs/,
# and tests/README.md has each file of tests once.
. "${srcdir:-.}/tests/lint/lib.sh"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/lint-test.XXXXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT

installed=$(sed -n 's/^dist_doc_DATA +*= *//p' "$srcdir/docs/module.am" | tr ' ' '\n' | grep '[.]md$')
[ "$(echo "$installed" | wc -l)" -gt 10 ] || wrong "only these documents are installed: $installed"
installed="$installed docs/lazaret.1"

# sources FILE - the places where it cites a file of the sources.
sources() {
    grep -nE '(^|[^A-Za-z0-9_./-])((core|tests|plugins|scripts)/[A-Za-z_*]|docs/[a-z]|config/[a-z])' "$1"
}
printf 'see `core/os/trust.h`\n' >"$scratch/page.md"
sources "$scratch/page.md" >/dev/null || wrong "a file of the sources was not found in a text"
for page in $installed; do
    found=$(sources "$srcdir/$page") && wrong "$page is installed and cites files of the sources:
$found"
done

# Links: [text](page.md#part).
links() {
    grep -oE '\]\([A-Za-z0-9_./-]+[.][a-z]+(#[^)]*)?\)' "$1" | sed 's/^](//; s/[)#].*//' | sort -u
}
is_installed() {
    echo "$installed" | tr ' ' '\n' | grep -qxF "$1"
}
for page in $(lint_files -name '*.md'); do
    for link in $(links "$srcdir/$page"); do
        target=$(dirname "$page")/$link
        target=${target#./}
        [ -e "$srcdir/$target" ] || wrong "$page links to $link, which does not exist"
        ! is_installed "$page" || is_installed "$target" ||
            wrong "$page is installed and links to $link, which is not"
    done
done

# Each page of docs/ is linked to by README.md, or by a page that README.md links to.
reached=$(links "$srcdir/README.md" | sed -n 's|^docs/||p')
reached="$reached
$(for page in $reached; do case $page in *.md) links "$srcdir/docs/$page" ;; esac; done)"
for page in "$srcdir"/docs/*.md; do
    page=$(basename "$page")
    echo "$reached" | grep -qxF "$page" || wrong "README.md does not lead to docs/$page"
done

# registries FILE... - where somebody is told to install a package of lazaret from a registry, in which
# there is none: others may have its name there.
registries() {
    grep -nE "(pip3?|pipx|uv|npm|npx|pnpm|yarn|bun)( -?[A-Za-z]+)* ['\"]?(lazaret|@lazaret/)|['\"]lazaret\[|install[.]packages[(]['\"]lazaret" "$@"
}
for words in 'pip install lazaret' "pip install 'lazaret[inspect]'" 'npm install @lazaret/client ai' \
    'npm i -D @lazaret/client' 'install.packages("lazaret")'; do
    echo "$words" | registries - >/dev/null || wrong "a package of a registry was not found: $words"
done
for page in $(lint_files -name '*.md' -o -path './clients/*.py' -o -path './clients/*.js' -o -path './clients/*.R' \
    -o -path './docs/*.1' -o -path './config/*'); do
    found=$(registries "$srcdir/$page") && wrong "$page names a package of a registry:
$found"
done

# tables FILE... - tables whose shape is wrong.
tables() {
    awk '
        function leave() {
            if (rows && rows < 3) print name ":" first ": a table without rows"
            if (rows > 1 && !ruled) print name ":" first ": a table without its head"
            rows = ruled = 0
        }
        FNR == 1 { leave(); name = FILENAME; code = 0 }
        /^ *```/ { code = !code }
        code || !/^\|/ { leave(); next }
        {
            line = $0
            gsub(/\\\|/, "", line)
            gsub(/`[^`]*`/, "", line)
            cells = gsub(/\|/, "", line)
            if (!rows++) { first = FNR; width = cells }
            if (rows == 2) ruled = /^\|[-:| ]+\|$/
            if (cells != width) print FILENAME ":" FNR ": " cells - 1 " cells, and its table has " width - 1
        }
        END { leave() }' "$@"
}
printf '| a | b |\n|---|---|\n\n| a | b |\n|---|---|\n| c |\n' >"$scratch/page.md"
[ "$(tables "$scratch/page.md" | wc -l)" -eq 2 ] || wrong "tables of a wrong shape were not found"
complaints=$(for page in $(lint_files -name '*.md'); do tables "$srcdir/$page"; done)
[ -z "$complaints" ] || wrong "$complaints"

# Each file of tests is in one row of tests/README.md, whose paths may be patterns.
in_rows() (
    cd "$srcdir/tests" || exit 1
    sed -n '/^## Where the test of a rule is/,/^## One alone/s/^| [^|]*| \(.*\) |$/\1/p' README.md |
        grep -oE '`[^`]+/[^`]+`' | tr -d '`' | while read -r pattern; do
            case $pattern in clients/*) pattern=../$pattern ;; esac
            for file in $pattern; do
                if [ -f "$file" ]; then echo "$file"; else echo "missing $pattern"; fi
            done
        done
)
files_of_tests() (
    cd "$srcdir/tests" || exit 1
    for file in */test_*.c fuzz/fuzz_*.c wine/wine_*.c */*.sh */cases/*.cases */mcp/test_*.py mcp-clients/*.test.js deploy/*.test.js \
        ../clients/*/tests/test_*.py ../clients/*/tests/*.test.js ../clients/*/tests/*.R; do
        case $file in */lib.sh) ;; *) echo "$file" ;; esac
    done
)
in_rows >"$scratch/rows"
files_of_tests >"$scratch/files"
[ "$(wc -l <"$scratch/files")" -gt 200 ] || wrong "only $(wc -l <"$scratch/files") files of tests were found"
found=$(grep '^missing ' "$scratch/rows") && wrong "tests/README.md names what does not exist: $found"
found=$(sort "$scratch/rows" | uniq -d)
[ -z "$found" ] || wrong "tests/README.md has these twice: $found"
found=$(grep -vxFf "$scratch/rows" "$scratch/files") && wrong "tests/README.md has no row for: $found"

# What docs/architecture.md and CONTRIBUTING.md list, and the tree has.
page=$srcdir/docs/architecture.md
# listed FILE HEADING TEXT - the part below that heading has a line that begins so.
listed() {
    awk -v heading="$2" -v text="$3" '
        /^#+ / { inside = $0 == heading }
        inside && index($0, text) == 1 { found = 1 }
        END { exit !found }' "$1" || wrong "$(basename "$1"), \"$2\": no row for $3"
}
rooms=0
for room in "$srcdir"/core/*/; do
    room=core/$(basename "$room")
    rooms=$((rooms + 1))
    listed "$page" '## The tree' "    $room "
done
[ "$rooms" -gt 10 ] || wrong "only $rooms rooms were found"
for top in config docs packaging plugins scripts tests; do
    listed "$page" '## The tree' "    $top/ "
done
for design in "$srcdir"/docs/design-*.md; do
    design=$(basename "$design")
    listed "$page" '## To begin with' "| [$design]($design) |"
done
for kind in "$srcdir"/plugins/*/; do
    case $kind in
        */backend/) listed "$page" '### A backend' '| table |' ;;
        */runtime/) listed "$page" '### A runtime' '| table |' ;;
        */carrier/) listed "$page" '### A carrier' '| table |' ;;
        */tool/) listed "$page" '### A tool provider' '| table |' ;;
        */example/ | */template/) ;;
        *) wrong "docs/architecture.md: what to touch for one of $kind?" ;;
    esac
done
for directory in "$srcdir"/tests/*/; do
    listed "$srcdir/CONTRIBUTING.md" '## Testing' "| \`tests/$(basename "$directory")\` |"
done
lint_end
