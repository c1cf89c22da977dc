#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh - a directory includes only what rooms.txt allows it, and at most two headers of another room;
# plugins include only <lazaret/...>, and each library is seen by the one part that wraps it.
#
# One grep lists what all files include, one awk judges it.
. "${srcdir:-.}/tests/lint/lib.sh"

lint_rooms

# FILE "HEADER or FILE <HEADER, one a line
includes() {
    lint_files -path './core/*.[ch]' -o -path './plugins/*.[ch]' |
        (cd "$srcdir" && xargs grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]*[">]') |
        sed 's/^\([^:]*\):[^"<]*\(["<][^">]*\)[">].*/\1 \2/'
}

found=$(includes | awk '
    BEGIN {
        # library: files of core that may include its headers
        only["^(cjson/)?cJSON[.]h$"] = "^core/base/json_tree[.]c$"
        only["^ares[.]h$"] = "^core/network/resolve[.]c$"
        only["^nettle/"] = "^core/(base/digest|token/signature)[.]c$"
        only["^gnutls/"] = "^core/(gate|proxy)/"
        only["^ltdl[.]h$"] = "^core/plugin/"
        only["^microhttpd[.]h$"] = "^core/(mcp/http/|telemetry/metrics_endpoint[.]c$)"
        only["^curl/"] = "^core/telemetry/spans_otlp[.]c$"
        only["^idn2[.]h$"] = "^core/network/idn[.]c$"
        only["^uv[.]h$"] = "^core/loop/loop[a-z_]*[.][ch]$"
    }
    NR == FNR {
        if ($0 !~ /^#/) may[$1] = " " $0 " "
        next
    }
    {
        file = $1
        quoted = substr($2, 1, 1) == "\""
        header = substr($2, 2)
        split(file, part, "/")
        split(header, first, "/")
    }
    part[1] == "plugins" && quoted && header ~ /\// { # without a slash: its own, or made by its build
        printf "%s: includes \"%s\"; a plugin includes only <lazaret/...>\n", file, header
    }
    part[1] == "core" && part[2] == "include" && quoted {
        printf "%s: a public header includes \"%s\"\n", file, header
    }
    part[1] == "core" && part[2] == "include" && !quoted && header !~ /^(lazaret\/.*|std.*[.]h|string[.]h)$/ {
        printf "%s: a public header includes <%s>\n", file, header
    }
    part[1] == "core" && part[2] != "include" && quoted && header != "config.h" &&
    !index(may[part[2]], " " first[1] " ") {
        printf "%s: includes \"%s\", which %s may not\n", file, header, part[2]
    }
    part[1] == "core" && !quoted {
        for (library in only)
            if (header ~ library && file !~ only[library])
                printf "%s: includes <%s>; only %s may\n", file, header, only[library]
    }
    END { if (FNR < 100) print "only " FNR " includes were found" }' "$rooms" -) ||
    wrong "the includes could not be looked at"
[ -z "$found" ] || wrong "$found"

# `base` and `os` have a header for each concern.
found=$(includes | awk '
    {
        split($1, part, "/")
        split(substr($2, 2), first, "/")
    }
    part[1] == "core" && substr($2, 1, 1) == "\"" && first[2] != "" && first[1] != part[2] &&
    first[1] != "base" && first[1] != "os" && !seen[$2]++ {
        count[first[1]]++
        headers[first[1]] = headers[first[1]] " " substr($2, 2)
    }
    END {
        for (room in count)
            if (count[room] > 2)
                print "core/" room " has " count[room] " headers for other rooms:" headers[room]
    }') || wrong "the headers of the rooms could not be counted"
[ -z "$found" ] || wrong "$found"
lint_end
