import ast
import inspect
import os
import sys
import typing


def documented(a: int, b: typing.Optional[str] = None, *rest) -> list[int]:
    """Says what it does."""
    return [a]  # the last line


print(inspect.signature(documented), inspect.getdoc(documented), typing.get_type_hints(documented))
print(inspect.getsource(documented).splitlines()[-1], documented.__code__.co_firstlineno)
print(os.path.basename(__file__), os.path.basename(sys.argv[0]), __name__, __doc__, __spec__)
print(ast.unparse(ast.parse('x=1;y  = [ x ]')), eval('1 + 1', {}),
      sorted(k for k in vars() if k[0] != '_'))
exec('def made(): return 5')
print(made(), 'made' in globals(), sys.modules['__main__'].made is made, __builtins__.len('ab'))
assert made() == 6, 'it is five'
