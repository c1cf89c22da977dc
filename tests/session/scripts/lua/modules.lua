package.preload.made = function(name, extra) return {name = name, extra = extra} end
local made = require 'made'
print(made.name, made.extra, require 'made' == made, package.loaded.made == made,
      package.config:sub(1, 1))
local env = {print = print}
local chunk = load('x = 5; print(x, tostring)', 'chunk', 't', env)
chunk()
print(env.x, x, _G._G == _G, _ENV == _G, type(debug.getinfo(1).source),
      debug.getinfo(1, 'l').currentline)
local function closure() local n = 0 return function() n = n + 1 return n end end
local c = closure()
c()
print(c(), debug.getupvalue(c, 1), string.dump(closure):sub(2, 4))
print(collectgarbage('count') > 0, collectgarbage() == 0,
      #setmetatable({{}, {}}, {__mode = 'v'}) <= 2)
require 'no.such.module'
