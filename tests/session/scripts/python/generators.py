import contextlib
import itertools as it


def numbers():
    total = 0
    try:
        while True:
            got = yield total
            total += got or 1
    finally:
        print('closed at', total)


def chained():
    result = yield from (x * x for x in range(3))
    yield result


@contextlib.contextmanager
def section(name):
    print('<', name)
    try:
        yield name.upper()
    except ValueError as error:
        print('swallowed', error)
    finally:
        print('>', name)


source = numbers()
print(next(source), source.send(10), next(source))
source.close()
print(list(chained()), list(it.islice(it.accumulate(it.count(1)), 5)),
      list(it.groupby('aab'))[0][0])
print([*it.zip_longest('ab', 'c', fillvalue='-')], list(it.pairwise('abc')),
      dict(zip('ab', it.repeat(0))))
with section('one') as name:
    print(name)
    raise ValueError('inside')
next(iter([]))
