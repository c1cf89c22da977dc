import collections
import heapq
import pprint
import sys

print('to', 'both', sep='-', end='!\n')
print('hidden', file=sys.stderr)
counts = collections.Counter('mississippi')
print(counts.most_common(2), counts - collections.Counter('miss'),
      list({'b': 1, 'a': 2} | {'b': 3}))
print(collections.OrderedDict.fromkeys('bcab'), heapq.nsmallest(2, [5, 1, 4]),
      collections.deque('abc', 2))
pprint.pprint({'list': list(range(30)), 'nested': {'deep': ['x' * 30, 'y' * 50]}})
print(collections.ChainMap({'a': 1}, {'a': 2, 'b': 3})['b'], sorted({3, 1, 2}), {1: 'a'}, (1,),
      None, ...)
print('%5.2f|%-6s|%+d|%x' % (3.14159, 'ab', 5, 255),
      f'{3.14159:>10.3e}|{"x":*^7}|{1234567:,}|{.256:.1%}|{"q"!r}')
5 + 5
'a value that a script does not show'
