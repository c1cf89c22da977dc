# SPDX-License-Identifier: MIT
# page.awk - makes a manual page of a page in Markdown: lazaret.toml(5) of configuration.md, whose
# tables are made from the schema. It knows the Markdown that these pages have, and no more.
#
#     awk -v name=lazaret.toml -v section=5 -v what='...' -v see='lazaret 1' -f page.awk \
#         lazaret.1 configuration.md
#
# A row of a table becomes an entry of a list: its first cell, the others with the words of the
# table's head, the last one as the text. Keys get the name of their section ("### [session]").
# The first file has the date of the manual.

FNR == NR { if ($1 == ".Dd") date = substr($0, 5); next }
FNR == 1 {
    print ".\\\" SPDX-License-Identifier: MIT"
    print ".Dd " date
    print ".Dt " toupper(name) " " section
    print ".Os"
    print ".Sh NAME"
    print ".Nm " name
    print ".Nd " what
    print ".Sh DESCRIPTION"
}

# Markup of a text: code, links (their text stands for them), what roff would take for its own.
function marked(text,   done, word, before) {
    gsub(/\\/, "\\e", text)
    while (match(text, /`[^`]+`|\[[^]]+\]\([^)]+\)/)) {
        word = substr(text, RSTART, RLENGTH)
        before = substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (word ~ /^`/) word = "\\fB" substr(word, 2, length(word) - 2) "\\fP"
        else word = link(word)
        done = done before word
    }
    text = done text
    return text ~ /^[.']/ ? "\\&" text : text
}

# [text](page.md#part): the text, and the page if it is another one.
function link(word,   at, text, target) {
    at = index(word, "](")
    text = substr(word, 2, at - 2)
    target = substr(word, at + 2, length(word) - at - 2)
    sub(/#.*/, "", target)
    return target == "" ? text : text " (" target ")"
}

# A sentence begins on a line of its own.
function put(text,   end) {
    while (match(text, /[a-z0-9_)"`>A-Z][.!?][")]* [A-Z`["]/)) {
        end = RSTART + RLENGTH - 1
        print marked(substr(text, 1, end - 2))
        text = substr(text, end)
    }
    print marked(text)
}

function flush() {
    if (paragraph != "") {
        if (any) print ".Pp"
        put(paragraph)
        any = 1
    }
    paragraph = ""
}

function leave() {
    flush()
    if (list) print ".El"
    list = ""
}

function row(line,   n, cells, i, text) {
    sub(/^\| */, "", line)
    sub(/ *\|$/, "", line)
    n = split(line, cells, / \| /)
    if (!heads) {
        heads = split(line, title, / \| /)
        return
    }
    print ".It " (prefix == "" ? "" : "Va ") prefix entry(cells[1])
    for (i = 2; i < n; i++) text = text title[i] " " cells[i] (i < n - 1 ? ", " : "")
    if (text != "") {
        print marked(toupper(substr(text, 1, 1)) substr(text, 2) ".")
        print ".br"
    }
    put(toupper(substr(cells[n], 1, 1)) substr(cells[n], 2))
}

function entry(cell) {
    gsub(/`/, "", cell)
    return cell
}

/^```/ {
    if (code) print ".Ed"
    else { leave(); print ".Bd -literal -offset indent" }
    code = !code
    any = 1
    next
}
code {
    gsub(/\\/, "\\e")
    print /^[.']/ ? "\\&" $0 : $0
    next
}
/^<!--/ || /^# / || /^\|--/ { next }
/^## / { leave(); print ".Sh " toupper(substr($0, 4)); prefix = ""; any = 0; next }
/^###+ / {
    leave()
    sub(/^#+ /, "")
    print ".Ss " $0
    prefix = /^\[/ ? $0 "." : ""
    gsub(/[][]/, "", prefix)
    any = 0
    next
}
/^\|/ {
    if (list != "table") {
        leave()
        print ".Bl -tag -width Ds"
        list = "table"
        heads = 0
    }
    row($0)
    any = 1
    next
}
/^[0-9]+\. / {
    flush()
    if (list != "steps") { leave(); print ".Bl -enum"; list = "steps" }
    print ".It"
    sub(/^[0-9]+\. /, "")
    paragraph = $0
    any = 0
    next
}
/^$/ {
    if (list) leave(); else flush()
    any = any || list
    next
}
{
    sub(/^ +/, "")
    paragraph = paragraph (paragraph == "" ? "" : " ") $0
}

END {
    leave()
    print ".Sh SEE ALSO"
    n = split(see, pages, ",")
    for (i = 1; i <= n; i++) print ".Xr " pages[i] (i < n ? " ," : "")
}
