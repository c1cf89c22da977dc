local text = 'naïve ☃ 𝔘'
print(#text, utf8.len(text), utf8.char(228, 9731), utf8.offset(text, 4), utf8.codepoint(text, 1, 3))
for _, code in utf8.codes('é☃') do io.write(('U+%04X '):format(code)) end
for c in text:gmatch(utf8.charpattern) do io.write(c, '.') end
print(utf8.len('\xff'), '\u{1F600}', ('ü'):upper())
