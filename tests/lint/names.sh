#!/bin/sh
# SPDX-License-Identifier: MIT
# names.sh - core knows no backend and no runtime by name: no string of core has the name of one that
# is in plugins/, but for the exceptions below. Comments may name them.
. "${srcdir:-.}/tests/lint/lib.sh"

# FILE NAME  why it may stay. A row that is no longer needed is an error.
exceptions='
core/agent/confine.c landlock        a step of the confinement: the facility of the kernel
core/plan/plan.c landlock            as above
core/plan/plan_show.c landlock       as above, in what is printed of a plan
core/wire/table.c landlock           as above, a member of a message
core/plan/plan_show.c none           the word: no programs
core/plan/programs_share.c program   the word: a member of a file of ours
core/session/execution_hints.c program  the word: what a denial is about
core/engine/tables.c program         the word: an option of backends
core/session/session_info.c none     the word: no process and no backend yet
core/box/box_trial.c none            what sandbox.strict = false falls back to, said in the log as well
core/os/posix/descriptors.c r        how fdopen opens a file
core/settings/schema.c python        the default of session.runtime, and texts of the document
core/settings/schema.c lua           texts of the document
core/settings/schema.c javascript    texts of the document
core/settings/schema.c bwrap         texts of the document
core/settings/schema.c landlock      texts of the document
core/settings/schema.c seatbelt      texts of the document
core/settings/schema.c windows-job   texts of the document
core/cli/options.c python            usage, which is printed before any plugin is looked for
core/cli/options.c javascript        as above
core/cli/options.c lua               as above
core/cli/commands.c doctor           the subcommand
core/doctor/doctor_private.h doctor  the runtime that makes the acts of the subcommand: a part of it
'

names() {
    (
        cd "$srcdir/plugins" || exit 1
        for file in backend/*.backend.json; do basename "$file" .backend.json; done
        for file in runtime/*/module.am; do basename "${file%/module.am}"; done
        for file in runtime/*/*.language.json; do basename "$file" .language.json; done
    ) | sort -u
}

# literals FILE... - "FILE:LINE<tab>TEXT" for each string outside of comments and includes.
literals() {
    awk '
        FNR == 1 { comment = 0 }
        /^[ \t]*#[ \t]*include/ && !comment { next }
        {
            text = ""
            string = 0
            for (i = 1; i <= length($0); i++) {
                c = substr($0, i, 1)
                pair = substr($0, i, 2)
                if (comment) {
                    if (pair == "*/") { comment = 0; i++ }
                } else if (string) {
                    if (c == "\\") { text = text substr($0, i, 2); i++ }
                    else if (c == "\"") { string = 0; print FILENAME ":" FNR "\t" text; text = "" }
                    else text = text c
                } else if (pair == "/*") { comment = 1; i++ }
                else if (pair == "//") break
                else if (c == "\047") { i++; if (substr($0, i, 1) == "\\") i++; i++ }
                else if (c == "\"") string = 1
            }
        }' "$@"
}

names >names.tmp
# The lint has to be able to fail.
printf '/* "bwrap" */ char c = %s;\nx("r", "as bwrap does"); // "lua"\n' "'\"'" >names-probe.tmp
[ "$(literals names-probe.tmp | tr '\t\n' ' |')" = 'names-probe.tmp:2 r|names-probe.tmp:2 as bwrap does|' ] ||
    wrong "strings are not found: $(literals names-probe.tmp)"
[ "$(wc -l <names.tmp)" -ge 9 ] || wrong "the names of plugins are not found: $(cat names.tmp)"

found=$(
    {
        sed 's/^/name /' names.tmp
        printf '%s\n' "$exceptions" | awk 'NF { print "may " $1 " " $2 }'
        cd "$srcdir" && literals $(find core -name '*.[ch]' | sort) | sed 's/^/text /'
    } | awk '
        # Names that are words of the language as well count only where they are the whole string.
        BEGIN { whole["none"] = whole["r"] = whole["doctor"] = whole["program"] = whole["shell"] = 1 }
        $1 == "name" { name[$2] = 1; next }
        $1 == "may" { may[$2 " " $3] = 1; next }
        {
            where = $2
            file = where
            sub(/:.*/, "", file)
            text = $0
            sub(/^[^\t]*\t/, "", text)
            read++
            for (n in name) {
                if (text != n && (n in whole || !match(" " text " ", "[^A-Za-z0-9_]" n "[^A-Za-z0-9_]")))
                    continue
                if (file " " n in may) used[file " " n] = 1
                else printf "%s: \"%s\" has the name of a plugin, %s: let the plugin declare it\n", where, text, n
            }
        }
        END {
            for (row in may)
                if (!(row in used)) print "tests/lint/names.sh: the exception \"" row "\" is not needed"
            if (read < 1000) print "only " read " strings were found"
        }'
) || wrong "the files could not be looked at"
rm -f names.tmp names-probe.tmp
[ -z "$found" ] || wrong "$found"
lint_end
