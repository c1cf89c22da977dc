sort(c("zebra", "Apfel", "apfel", "Zug", "\u00e4rger", "10", "9"))
order(c("b", "A", "a", "B"))
Sys.getlocale("LC_COLLATE")
l10n_info()[1:2]
toupper("stra\u00dfe \u00e9")
nchar("\u2603\u00fc"); nchar("\u2603\u00fc", "bytes"); nchar("\u65e5", "width")
format(c("\u00fc", "abc"), width = 5)
iconv("\u00fc", "UTF-8", "latin1", toRaw = TRUE)
rev(utf8ToInt("a\u00e9"))
enc2utf8("\u00e4")
print("\u65e5\u672c")
"a\tb\\\"q\""
cat("\u00e9\n")
format(1234567.891, big.mark = ",")
format(Sys.time(), "%Y") >= "2024"
chartr("abc", "xyz", "aabbcc")
casefold("X", upper = FALSE)
