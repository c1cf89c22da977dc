local function produce(n)
  return coroutine.wrap(function() for i = 1, n do coroutine.yield(i, i * i) end end)
end
for i, square in produce(3) do io.write(i, ':', square, ' ') end
local co = coroutine.create(function(a)
  local b = coroutine.yield(a + 1)
  local ok, err = pcall(function() coroutine.yield(b * 2) error({code = 5}) end)
  print(ok, err.code, coroutine.isyieldable())
  error('inside', 0)
end)
print(coroutine.resume(co, 1))
print(coroutine.resume(co, 10))
print(coroutine.resume(co))
print(coroutine.status(co), coroutine.resume(co))
