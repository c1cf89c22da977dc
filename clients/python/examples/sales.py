# SPDX-License-Identifier: MIT
"""Code that gets a data frame from this program, asks before it buys, and outlives a timeout."""
import lazaret, pandas

CODE = """
d <- sales()
d$income <- d$price * d$sold
writeLines(buy(d$item[which.max(d$sold)], 10))
writeLines(tryCatch(buy("tea", 500), error = function(e) "refused"))
d[c("item", "income")]"""

def sales() -> pandas.DataFrame:
    """What was sold, and at which price."""
    return pandas.DataFrame({"item": ["tea", "coffee", "milk"], "price": [2.5, 3.25, 1],
                             "sold": [4, 2, 8]})
@lazaret.tool(approve=True)
def buy(item: str, count: int) -> str:
    return f"bought {count} {item}"

with lazaret.Session("r", tools=[sales, buy],
                     approve=lambda call: call.args["count"] < 100) as session:
    result = session.execute(CODE)
    print(result.stdout, end="")
    for row in result.value.itertuples():
        print(row.item, f"{row.income:.2f}")
    try:
        session.execute("repeat {}", timeout=0.5)
    except lazaret.Timeout:
        print("stopped, and then:", session.execute("6 * 7").value)
