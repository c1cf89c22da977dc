# SPDX-License-Identifier: MIT
# manual.awk - makes the manual pages of section 3 from the public headers: lazaret(3) from the head
# comment of lazaret.h, and a page for each section of it and of result.h, by whose functions' names
# it is found.
#
#     awk -v directory=docs/man3 -f manual.awk lazaret.1 error.h plugin.h tool.h lazaret.h result.h
#
# Nothing about a function stands here. A comment in the header is about the declarations that
# follow it without an empty line; one comment serves two functions if the third word of one name
# begins the other's (laz_result_outputs, laz_result_output). The first file has the date of the
# manual. With -v check=yes no page is written: a line for each function without a comment.

function trim(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

# ---- reading ----

FNR == 1 { file = FILENAME; own = file ~ /(lazaret|result)\.h$/; said = ""; drop_until = 0 }
file ~ /\.1$/ { if ($1 == ".Dd") date = substr($0, 5); next }

# Inside a comment that stands on lines of its own.
in_comment {
    text = $0
    ended = sub(/[ \t]*\*\/[ \t]*$/, "", text)
    sub(/^ \*( |$)/, "", text)
    said = said text "\n"
    if (ended) { in_comment = 0; end_comment() }
    next
}
in_body {
    body = body $0 "\n"
    if (/^}/) { in_body = 0; keep_body() }
    next
}
in_macro {
    body = body $0 "\n"
    if (!/\\$/) { in_macro = 0; keep_macro() }
    next
}
in_function {
    declaration = declaration " " $0
    if (/;/) { in_function = 0; keep_function() }
    next
}
/^\/\*/ {
    text = substr($0, 4)
    ended = sub(/[ \t]*\*\/[ \t]*$/, "", text)
    said = text "\n"
    if (ended) end_comment(); else in_comment = 1
    next
}
/^(struct|enum) [a-z_]+ \{/ { body = $0 "\n"; body_name = $1 " " $2; in_body = 1; next }
/^#define LAZ_[A-Z_]+/ && own {
    body = $0 "\n"
    if (/\\$/) in_macro = 1; else keep_macro()
    next
}
/^#define LAZ_E[A-Z]+ / && !own {
    errors[++n_errors] = $2
    text = $0
    sub(/^[^\/]*\/\* */, "", text)
    sub(/ *\*\/$/, "", text)
    meaning[$2] = text
}
/^LAZ_EXPORT/ && own {
    declaration = $0
    if (/;/) keep_function(); else in_function = 1
    next
}
/^$/ { said = ""; serves = "" }

# The comment is the head of the file, the title of a section, or about what follows.
function end_comment(   title, at) {
    if (!own) return
    if (said ~ /^SPDX/) said = ""
    else if (said ~ /^lazaret\/lazaret\.h - /) {
        at = index(said, "\n")
        summary = substr(said, index(said, " - ") + 3, at - index(said, " - ") - 3)
        sub(/\.$/, "", summary)
        head = substr(said, at + 1)
        open_section("the library")
        said = ""
    } else if (said ~ /^---- /) {
        at = index(said, "\n")
        title = substr(said, 6, at - 6)
        sub(/ *-+$/, "", title)
        open_section(title)
        add_item("text", substr(said, at + 1), "")
        said = ""
    }
}

function open_section(title) {
    section_title[++sections] = title
    n_items[sections] = 0
    serves = ""
}

function add_item(kind, comment, code,   i) {
    i = ++n_items[sections]
    item_kind[sections, i] = kind
    item_comment[sections, i] = comment
    item_code[sections, i] = code
    return i
}

function keep_body() {
    if (own) {
        item_title[sections, add_item("code", said, body)] = body_name
    } else {
        foreign_names[++n_foreign] = body_name
        foreign[body_name] = body
        foreign_comment[body_name] = said
    }
    said = serves = ""
}

function keep_macro() {
    add_item("code", said, body)
    said = ""
}

function third(name,   words) {
    split(name, words, "_")
    return words[3]
}

function is_pair(a, b) {
    a = third(a)
    b = third(b)
    return a != "" && b != "" && (index(a, b) == 1 || index(b, a) == 1)
}

function keep_function(   name, note) {
    if (match(declaration, /\/\*.*\*\//)) {
        note = trim(substr(declaration, RSTART + 2, RLENGTH - 4))
        note = toupper(substr(note, 1, 1)) substr(note, 2) ".\n"
        declaration = substr(declaration, 1, RSTART - 1)
    }
    sub(/^LAZ_EXPORT /, "", declaration)
    gsub(/[ \t]+/, " ", declaration)
    match(declaration, /laz_[a-z0-9_]+\(/)
    name = substr(declaration, RSTART, RLENGTH - 1)
    all[++functions] = name
    page[name] = sections
    prototype[name] = trim(declaration)
    if (said != "" || note != "")
        serving = add_item("function", said note, name)
    else if (serves != "" && is_pair(serves, name))
        item_code[sections, serving] = item_code[sections, serving] " " name
    else {
        without[++n_without] = name
        serving = add_item("function", "", name)
    }
    serves = name
    said = ""
}

# ---- writing ----

function put(line) {
    print line >out
}

function plain(text) {
    gsub(/\\/, "\\e", text)
    if (text ~ /^[.']/) text = "\\&" text
    return text
}

# A word or two of markup: `x`, *x*, names of functions and errors.
function marked(text,   done, word, before) {
    text = plain(text)
    done = ""
    while (match(text, /`[^`]+`|\*[a-z ]+\*|laz_[a-z0-9_]+|LAZ_[A-Z0-9_]+/)) {
        word = substr(text, RSTART, RLENGTH)
        before = substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (word ~ /^[`*]/) word = "\\fI" substr(word, 2, length(word) - 2) "\\fP"
        else if (word in page) {
            word = "\\fB" word "\\fP()"
            if (text ~ /^\(\)/) text = substr(text, 3)
        }
        done = done before word
    }
    return done text
}

# A line of text; a sentence begins on a line of its own.
function put_text(text,   end) {
    while (match(text, /[a-z0-9_)"*`>A-Z][.!?][")]* [A-Z`*"]/)) {
        end = RSTART + RLENGTH - 1
        put(marked(substr(text, 1, end - 2)))
        text = substr(text, end)
    }
    put(marked(text))
}

# A comment: paragraphs, and examples that are indented.
function put_comment(text,   lines, n, i, literal, gap, any) {
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) {
        if (lines[i] ~ /^[ \t]*$/) { gap = 1; continue }
        if (!literal && lines[i] ~ /^    /) {
            put(".Bd -literal -offset indent")
            literal = 1
            gap = 0
        } else if (literal && lines[i] !~ /^    /) {
            put(".Ed")
            put(".Pp")
            literal = gap = 0
        }
        if (gap && literal) put("")
        else if (gap && any) put(".Pp")
        gap = 0
        any = 1
        if (literal) put(plain(substr(lines[i], 5)))
        else put_text(trim(lines[i]))
    }
    if (literal) put(".Ed")
}

function put_code(text,   lines, n, i) {
    n = split(text, lines, "\n")
    put(".Bd -literal -offset indent")
    for (i = 1; i < n; i++) put(plain(lines[i]))
    put(".Ed")
}

function put_head(name) {
    out = directory "/" name ".3"
    put(".\\\" Made from lazaret/lazaret.h by manual.awk: change that.")
    put(".\\\" SPDX-License-Identifier: MIT")
    put(".Dd " date)
    put(".Dt " toupper(name) " 3")
    put(".Os")
    put(".Sh NAME")
}

function put_how() {
    put(".Sh SYNOPSIS")
    put(".In lazaret/lazaret.h")
    put(".Pp")
    put(".Dl cc program.c $(pkg-config --cflags --libs lazaret)")
}

# One argument a line: lines are broken between them. So are the arguments of an argument that is a
# function, because mdoc puts the same comma between all.
function put_prototype(name,   text, at, n, i, arguments) {
    text = prototype[name]
    at = index(text, name "(")
    put(".Ft \"" trim(substr(text, 1, at - 1)) "\"")
    put(".Fo " name)
    text = substr(text, at + length(name) + 1)
    sub(/\) *;$/, "", text)
    n = split(text, arguments, ",")
    for (i = 1; i <= n; i++)
        put(".Fa \"" trim(arguments[i]) "\"")
    put(".Fc")
}

# Errors named in a text, in the order of the header.
function put_errors(text, every,   i, any) {
    for (i = 1; i <= n_errors; i++)
        if (every || text ~ (errors[i] "([^A-Z_]|$)")) {
            if (!any) put(".Bl -tag -width Ds")
            any = 1
            put(".It Er " errors[i])
            put(toupper(substr(meaning[errors[i]], 1, 1)) substr(meaning[errors[i]], 2) ".")
        }
    if (any) put(".El")
}

function first_function(s,   i) {
    for (i = 1; i <= functions; i++)
        if (page[all[i]] == s) return all[i]
    return ""
}

# Structs that the text names and no section of the header defines: of the other headers.
function put_foreign(text,   i, name) {
    for (i = 1; i <= n_foreign; i++) {
        name = foreign_names[i]
        if (name == "struct laz_error" || text !~ (name "[^a-z_]")) continue
        put(".Ss " name)
        put_comment(foreign_comment[name])
        put_code(foreign[name])
    }
}

function put_see(s, text,   i, other, n, names, seen) {
    put(".Sh SEE ALSO")
    for (i = 1; i <= sections; i++) {
        other = first_function(i)
        if (other != "" && i != s) names[++n] = other
    }
    for (i = 1; i <= n; i++) # sorted by insertion
        for (other = i; other > 1 && names[other] < names[other - 1]; other--) {
            seen = names[other]
            names[other] = names[other - 1]
            names[other - 1] = seen
        }
    put(".Xr lazaret 1 ,")
    for (i = 1; i <= n; i++) put(".Xr " names[i] " 3 ,")
    if (s) put(".Xr lazaret 3 ,")
    put(".Xr lazaret.toml 5")
}

function put_page(s,   main, i, j, n, names, text, list) {
    main = first_function(s)
    if (main == "") return
    put_head(main)
    for (i = 1; i <= functions; i++) if (page[all[i]] == s) list = list " " all[i]
    n = split(trim(list), names, " ")
    for (i = 1; i <= n; i++) put(".Nm " names[i] (i < n ? " ," : ""))
    put(".Nd " section_title[s])
    put_how()
    put(".Pp")
    for (i = 1; i <= n; i++) put_prototype(names[i])
    put(".Sh DESCRIPTION")
    for (i = 1; i <= n_items[s]; i++) {
        text = text item_comment[s, i] item_code[s, i]
        if (item_kind[s, i] == "function") {
            put(".Ss " item_code[s, i])
            j = split(item_code[s, i], names, " ")
            while (j) text = text prototype[names[j--]]
        } else if ((s, i) in item_title) put(".Ss " item_title[s, i])
        else if (i > 1 && item_comment[s, i] != "") put(".Pp")
        put_comment(item_comment[s, i])
        if (item_kind[s, i] == "code") put_code(item_code[s, i])
    }
    put_foreign(text)
    if (text ~ /LAZ_E[A-Z]/) {
        put(".Sh ERRORS")
        put("A function that can fail returns 0, or one of these, with a sentence in")
        put(".Fa err ;")
        put("all are listed in")
        put(".Xr lazaret 3 .")
        put_errors(text, 0)
    }
    put_see(s)
    close(out)
    n = split(trim(list), names, " ")
    for (i = 2; i <= n; i++) {
        out = directory "/" names[i] ".3"
        put(".so man3/" main ".3")
        close(out)
    }
}

END {
    for (i = 1; i <= n_without; i++)
        if (check != "") print without[i] ": no comment in the header says what it does"
    if (functions < 40 || n_errors < 10 || date == "" || head == "") {
        print "manual.awk: only " functions + 0 " functions and " n_errors + 0 " errors were found"
        exit 1
    }
    if (check != "") exit n_without > 0
    put_head("lazaret")
    put(".Nm lazaret")
    put(".Nd " summary)
    put_how()
    put(".Sh DESCRIPTION")
    put_comment(head)
    put(".Sh FUNCTIONS")
    put(".Bl -tag -width Ds")
    for (s = 1; s <= sections; s++) {
        if (first_function(s) == "") continue
        put(".It " section_title[s])
        put(".Xr " first_function(s) " 3")
        for (i = 1; i <= functions; i++)
            if (page[all[i]] == s) put(".Fn " all[i])
    }
    put(".El")
    put(".Sh ERRORS")
    put_comment(foreign_comment["struct laz_error"])
    put_code(foreign["struct laz_error"])
    put(".Pp")
    put("The codes:")
    put_errors("", 1)
    put_see(0)
    close(out)
    for (s = 1; s <= sections; s++) put_page(s)
}
