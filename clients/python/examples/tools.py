# SPDX-License-Identifier: MIT
"""Code that calls a function of this program, and is stopped when it runs too long."""

import lazaret

CODE = """
prices = [price(item) for item in ("tea", "coffee")]
print("prices:", prices)
sum(prices)
"""


@lazaret.tool(timeout=5)
def price(item: str) -> float:
    """Price of an item in euros."""
    return {"tea": 2.5, "coffee": 3.25}[item]


with lazaret.Session(runtime="python", tools=[price]) as session:
    result = session.execute(CODE, timeout=10, output=lambda stream, text: print(text, end=""))
    print("sum:", result.value)
    try:
        session.execute("while True: pass", timeout=0.2)
    except lazaret.Timeout as error:
        print("stopped:", error)
