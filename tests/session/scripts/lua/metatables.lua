local Vector = {}
Vector.__index = Vector
Vector.__name = 'Vector'
function Vector.new(x, y) return setmetatable({x = x, y = y}, Vector) end
Vector.__add = function(a, b) return Vector.new(a.x + b.x, a.y + b.y) end
Vector.__eq = function(a, b) return a.x == b.x and a.y == b.y end
Vector.__lt = function(a, b) return a.x < b.x end
Vector.__len = function() return 2 end
Vector.__call = function(self, k) return self.x * k end
Vector.__tostring = function(self) return ('<%g, %g>'):format(self.x, self.y) end
Vector.__concat = function(a, b) return tostring(a) .. '..' .. tostring(b) end
Vector.__close = function() print('closed') end
local Named = setmetatable({}, {__index = Vector})
Named.__index = Named
local a, b = Vector.new(1, 2), Vector.new(3, 4)
print(tostring(a + b), a == Vector.new(1, 2), a < b, #a, a(5), a .. b, a .. '!')
print(setmetatable({}, {__index = function(_, k) return k .. '?' end}).anything,
      getmetatable('').__index == string)
local log = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v * 2) end})
log.x = 5
do local c <close> = Vector.new(0, 0) print(log.x) end
for k,
                  v in pairs(setmetatable({},
                             {__pairs = function() return next, {only = 1}, nil end})) do print(k,
                                 v) end
local fixed <const> = 7
print(fixed, getmetatable(setmetatable({}, {__metatable = 'locked'})))
return a + 1
