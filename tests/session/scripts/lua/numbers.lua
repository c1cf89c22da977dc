print(7 // 2, -7 // 2, -7 % 3, 7 / 2, 2 ^ 10, 7.0, 1e15, 1e100, 10 // 0.0, -(0 / 0) ~= 0)
print(math.maxinteger, math.mininteger, math.maxinteger + 1 == math.mininteger, 1 << 62, ~0, 5 & 3,
      5 ~ 3)
print(math.type(1), math.type(1.0), math.type('1'), math.tointeger(3.0), math.tointeger(3.5),
      3 == 3.0)
print(tonumber('0x1p4'), tonumber('10', 2), tonumber('z', 36), tonumber(' 5 '), tonumber('5x'),
      '10' + 5, '3' * '4')
print(math.floor(-3.5), math.ceil(3.2), math.fmod(-7, 3), math.ult(1, -1), math.abs(-5), 0.1 + 0.2,
      100000000000000)
math.randomseed(42)
print(math.random(1, 100), math.random(1, 100), math.random(0) ~= nil,
      ('%.6f'):format(math.random()))
print(1 // 0)
