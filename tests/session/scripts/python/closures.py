import functools
import operator


def counter(start=0):
    def step(by=1):
        nonlocal start
        start += by
        return start
    return step


def logged(function):
    @functools.wraps(function)
    def inner(*args, **named):
        print('->', function.__name__, args, named)
        return function(*args, **named)
    return inner


@functools.lru_cache(None)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@logged
def add(a, /, b, *, c=0):
    """Adds."""
    return a + b + c


step = counter(5)
print(step(), step(10), step.__closure__[0].cell_contents,
      [f(1) for f in [lambda x, n=n: x + n for n in range(3)]])
print(add(1, 2, c=3), add.__doc__, fibonacci(80), fibonacci.cache_info())
print(functools.reduce(operator.mul, range(1, 6)),
      sorted('bca', key=functools.cmp_to_key(lambda a, b: ord(b) - ord(a))))
add(1, b=2, c=3, d=4)
