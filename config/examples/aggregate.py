# Sums the orders of three months by customer and by item.
from collections import defaultdict

by_customer = defaultdict(float)
by_item = defaultdict(int)
count = 0
for month in (1, 2, 3):
    for order in orders(month):
        by_customer[order["customer"]] += order["quantity"] * order["price"]
        by_item[order["item"]] += order["quantity"]
        count += 1

print(f"{count} orders")
for customer, total in sorted(by_customer.items(), key=lambda pair: -pair[1]):
    print(f"{customer:<6}{total:>8.2f}")
print(", ".join(f"{item}: {n}" for item, n in sorted(by_item.items())))

try:
    orders(month=4)
except Exception as error:
    print("month 4:", error)
