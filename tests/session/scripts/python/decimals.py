from decimal import Decimal, ROUND_HALF_UP, getcontext, localcontext
from fractions import Fraction

print(Decimal('0.1') + Decimal('0.2'), Decimal(1) / 7, Decimal('1.10'), Decimal('1E+3').normalize())
with localcontext() as context:
    context.prec = 50
    print(Decimal(2).sqrt())
print(Decimal('2.675').quantize(Decimal('.01'), ROUND_HALF_UP), getcontext().prec)
print(Fraction('0.125') + Fraction(1, 3), Fraction(0.1).limit_denominator(100),
      f'{Decimal("1234567.891"):,.2f}')
print(Decimal(1) / 0)
