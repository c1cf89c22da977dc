# SPDX-License-Identifier: MIT
# tools.py - the functions that stand for the tools of the host.
#
# Runs in the namespace of bootstrap.py, which C has given the functions `call` and `call_later`.
# Names of tools and parameters come from outside, so they never become part of source text that is
# compiled.
TYPES = {'string': str, 'number': float, 'integer': int, 'boolean': bool, 'array': list,
         'object': dict}
bodies = {}


def signature(parameters):
    # A required parameter after an optional one is keyword-only.
    head, optional, by_name = [], False, False
    defaults, by_name_defaults = [], {}
    for index, (name, _, required, default) in enumerate(parameters):
        if required and optional and not by_name:
            head.append('*')
            by_name = True
        optional = optional or not required
        head.append('p%d' % index)
        if not required:
            if by_name:
                by_name_defaults[name] = default
            else:
                defaults.append(default)
    return ', '.join(head), tuple(defaults), by_name_defaults


def make_body(head, n):
    # The code of tools with these parameters; the constant 'tool' stands for the number of one.
    body = bodies.get(head)
    if body is None:
        given = ''.join('p%d, ' % i for i in range(n))
        text = "def tool(%s): return call('tool', (%s))" % (head, given)
        for body in compile(text, '<lazaret>', 'exec').co_consts:
            if isinstance(body, type(make_body.__code__)):
                break
        bodies[head] = body
    return body


def make_tool(index, name, parameters):
    head, defaults, by_name_defaults = signature(parameters)
    body = make_body(head, len(parameters))
    changed = {'co_name': name, 'co_varnames': tuple(p[0] for p in parameters),
               'co_consts': tuple(index if c == 'tool' else c for c in body.co_consts)}
    if hasattr(body, 'co_qualname'):
        changed['co_qualname'] = name
    tool = type(make_tool)(body.replace(**changed), globals(), name, defaults)
    tool.__kwdefaults__ = by_name_defaults or None
    tool.__annotations__ = {p[0]: TYPES[p[1]] for p in parameters if p[1] in TYPES}
    return tool


def make_aio(tool):
    # The same code, in which `call` returns a coroutine instead of a value.
    aio = type(tool)(tool.__code__, {'call': call_later, '__name__': 'lazaret'}, tool.__name__,
                     tool.__defaults__)
    aio.__qualname__ = tool.__name__ + '.aio'
    aio.__kwdefaults__ = tool.__kwdefaults__
    aio.__annotations__ = tool.__annotations__
    aio.__doc__ = tool.__doc__
    return aio


def define_tool(index, original, name, doc, parameters):
    # The function is in builtins, where `del` does not reach it. A tool with the name of a builtin
    # hides it for the code, but not for modules.
    tool = make_tool(index, name, parameters)
    tool.__doc__ = doc
    tool.aio = make_aio(tool)
    lazaret.tools[original] = tool
    tool_names.add(name)
    if not hasattr(lazaret, name):
        setattr(lazaret, name, tool)
    builtins = sys.modules['builtins']
    if hasattr(builtins, name):
        builtins = sys.modules['__main__']
    setattr(builtins, name, tool)
