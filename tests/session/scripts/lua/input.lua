print(io.read('l'), io.read('L'), io.read('n'), io.read(1))
print(io.read('l'))
for line in io.lines() do io.write('[', line, ']\n') end
print(io.read('a') == '', io.read('l'), io.type(io.stdin))
