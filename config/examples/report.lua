-- A table of distances in three units, and the best order of a month.
local distances = { { "marathon", 42.195 }, { "lap", 0.4 }, { "mile", 1.609344 } }

print(string.format("%-10s%10s%10s%10s", "distance", "km", "mi", "m"))
for _, row in ipairs(distances) do
  local name, km = row[1], row[2]
  print(string.format("%-10s%10.3f%10.3f%10.0f", name, km, convert(km, "km", "mi"),
    convert(km, "km", "m")))
end

local best
for _, order in ipairs(orders(2)) do
  local total = order.quantity * order.price
  if not best or total > best.total then
    best = { id = order.id, customer = order.customer, total = total }
  end
end
print(string.format("best order: %d by %s, %.2f", best.id, best.customer, best.total))

local ok, problem = pcall(convert, 1, "km", "parsec")
print("parsec: " .. (ok and "converted" or "refused"))
print("fingerprint: " .. fingerprint("lazaret"))
