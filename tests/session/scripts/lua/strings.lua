local text = 'key = value, other=thing; last = 42'
for k, v in text:gmatch('(%w+)%s*=%s*(%w+)') do io.write(k, '->', v, ' ') end
print(text:find('=', 1, true), text:match('(%d+)$'), text:gsub('%w+', string.upper, 2))
print(('%5.2f|%-6s|%+d|%x|%q'):format(3.14159, 'ab', 5, 255, 'new\nline'), ('x'):rep(3, ','),
      ('abc'):byte(1, -1))
print(('hello'):gsub('l', {l = 'L'}), ('$name!'):gsub('%$(%w+)', {name = 'you'}),
      ('f(a(b)c)d'):match('%b()'))
print(('  trim '):match('^%s*(.-)%s*$') .. '|', ('THE (quick) fox'):find('%((%a+)%)'),
      ('x'):rep(0) == '')
print(string.pack('>i2z', -2, 'ab'):byte(1, -1), string.unpack('<I4', '\1\2\0\0'),
      #string.format('%a', 0.5))
print(('%d'):format('x'))
