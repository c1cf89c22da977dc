local t = {5, 2, 8, 1, x = 'named'}
table.sort(t)
print(table.concat(t, ' '), #t, t.x, table.unpack(t, 2, 3))
table.insert(t, 1, 0)
print(table.remove(t), table.remove(t, 1), table.concat(table.move(t, 1, 2, 4), ','),
      select('#', table.unpack({1, nil, 3}, 1, 3)))
local words = {'pear', 'Apple', 'fig'}
table.sort(words, function(a, b) return a:lower() < b:lower() end)
print(table.concat(words, ' '), table.pack(1, nil).n, next({}), rawlen({1, 2}), rawequal(t, t))
local keys = {}
for k in pairs({a = 1, b = 2, c = 3}) do keys[#keys + 1] = k end
table.sort(keys)
print(table.concat(keys))
goto done
print('skipped')
::done::
table.sort({3, 1, 'x'})
