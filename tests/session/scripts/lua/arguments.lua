print(#arg, arg[1], arg[2], arg[3], select('#', ...), (select(2, ...)))
print(arg[0]:match('[^/]*$'), type(arg[-1]), _VERSION)
local sum = 0
for _, text in ipairs(arg) do sum = sum + #text end
return sum
