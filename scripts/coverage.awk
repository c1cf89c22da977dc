# SPDX-License-Identifier: MIT
# coverage.awk - reports which lines of core/ the suite has run, from the output of `gcov -t` for
# each object.
#
# A source file may be in several objects, each with counts of its own; a line counts as run if it
# was run in one of them. Prints the files, the least covered first, and the sum; exits with status
# 1 when the sum is below `least` per cent. `top` is the source directory.

/^ *-: *0:Source:/ {
    file = $0
    sub(/^[^:]*:[^:]*:Source:/, "", file)
    if (index(file, top "/") == 1)
        file = substr(file, length(top) + 2)
    sub(/^(\.\.\/)+/, "", file) # as the build names it
    wanted = file ~ /^core\/.*\.c$/
    next
}
wanted && /^ *[^ :]+: *[0-9]+:/ {
    split($0, field, ":")
    count = field[1]
    gsub(/ /, "", count)
    if (count == "-")
        next
    key = file SUBSEP (field[2] + 0)
    if (!(key in run)) {
        run[key] = 0
        lines[file]++
    }
    if (count !~ /^[#=]/ && !run[key]) {
        run[key] = 1
        hits[file]++
    }
}
END {
    for (file in lines) {
        all += lines[file]
        hit += hits[file]
        printf "%6.1f %% of %4d lines  %s\n", 100 * hits[file] / lines[file], lines[file], file | "sort -n"
    }
    close("sort -n")
    if (!all) {
        print "coverage: there are no figures"
        exit 1
    }
    printf "core/: %.1f %% of %d lines (wanted: %d %%)\n", 100 * hit / all, all, least
    exit 100 * hit < least * all
}
