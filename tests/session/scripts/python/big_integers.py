import math
import sys

print(2 ** 200, math.factorial(30), math.comb(60, 30), pow(3, 10 ** 6, 10 ** 9 + 7), pow(7, -1, 31))
print(math.gcd(2 ** 64, 6 ** 20), math.isqrt(10 ** 40), -7 // 2, -7 % 3, divmod(-7, 2))
print((255).to_bytes(2, 'big'), int.from_bytes(b'\x80', 'little', signed=True), hex(2 ** 70),
      f'{2**40:_}')
print(0.1 + 0.2, 1e16 + 1, float('nan') == float('nan'), -0.0, 1e400, round(2.5), round(-3.5), 7.0)
print(math.fsum([.1] * 10), sum([.1] * 10), (0.1).as_integer_ratio(), (2.5).hex(), 3 + 4j,
      abs(3 + 4j))
print(sys.int_info.bits_per_digit, sys.float_info.dig, sys.maxsize)
print(1 // 0)
