# SPDX-License-Identifier: MIT
"""Code that gets a file and a data frame, asks before it buys, plots, and outlives a timeout."""
import lazaret, pandas

CODE = """
d <- transform(cbind(sales(), read.csv("prices.csv")), income = price * sold)
writeLines(buy(d$item[which.max(d$sold)], 10))
writeLines(tryCatch(buy("tea", 500), error = function(e) "refused"))
barplot(d$income, names.arg = d$item)
d[c("item", "income")]"""

def sales() -> pandas.DataFrame:
    """What was sold."""
    return pandas.DataFrame({"item": ["tea", "coffee", "milk"], "sold": [4, 2, 8]})
@lazaret.tool(approve=True)
def buy(item: str, count: int) -> str:
    return f"bought {count} {item}"

with lazaret.Session("r", tools=[sales, buy], files={"prices.csv": b"price\n2.5\n3.25\n1\n"},
                     approve=lambda call: call.args["count"] < 100) as session:
    result = session.execute(CODE)
    print(result.stdout, end="")
    for row in result.value.itertuples():
        print(row.item, f"{row.income:.2f}")
    print(*(f"{artifact.name}: {artifact.type}" for artifact in result.artifacts))
    try:
        session.execute("repeat {}", timeout=0.5)
    except lazaret.Timeout:
        print("stopped, and then:", session.execute("6 * 7").value)
