# SPDX-License-Identifier: MIT
# bootstrap.py - the part of the runtime that is easier to say in Python.
#
# The build turns it into a C string; py_boot.c runs it once, in a namespace of its own named
# "lazaret", before any code of a session.  It imports nothing that an interpreter has not loaded
# when it has started: modules such as ast, inspect, linecache and traceback take longer than the
# start itself.  Names of tools and parameters are words of somebody else: they never become part
# of a text that is compiled.
import sys
import _ast

ONLY_AST = 0x400
KEPT_SOURCES = 200
KEPT_CHARACTERS = 4000000
SHOWN_FRAMES = 100
sources, sizes = {}, {}  # lines and length, by the name of the file that they stand for


class ToolError(RuntimeError):
    """A tool failed, or the host refused to call it."""


# ---- source text of what was executed --------------------------------------------------------

def keep_source(name, text):
    sources[name] = text.splitlines(True)
    sizes[name] = len(text)
    while len(sources) > KEPT_SOURCES or sum(sizes.values()) > KEPT_CHARACTERS:
        oldest = next(iter(sources))
        if oldest == name:
            break
        del sources[oldest], sizes[oldest]
        if 'linecache' in sys.modules:
            sys.modules['linecache'].cache.pop(oldest, None)
    if 'linecache' in sys.modules:
        show_source(sys.modules['linecache'], name)


def show_source(linecache, name):
    lines = sources[name]
    linecache.cache[name] = (sum(map(len, lines)), None, lines, name)


class LinecacheFinder:
    # Gives linecache our sources when, and if, something imports it.
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != 'linecache':
            return None
        sys.meta_path.remove(cls)
        finder = sys.modules['_frozen_importlib_external'].PathFinder
        spec = finder.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = LinecacheLoader(spec.loader)
        return spec


class LinecacheLoader:
    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        for name in sources:
            show_source(module, name)


# ---- before the code runs --------------------------------------------------------------------

def prepare(text, name):
    tree = compile(text, name, 'exec', ONLY_AST, True)
    last = None
    if tree.body and type(tree.body[-1]) is _ast.Expr:
        last = _ast.Expression(tree.body.pop().value)
    body = compile(tree, name, 'exec', 0, True) if tree.body else None
    if last is not None:
        last = compile(last, name, 'eval', 0, True)
    return body, last


def prepare_run(text, name):
    # The source is there before the compiler warns about a line of it.
    keep_source(name, text)
    return prepare(text, name)


def prepare_check(text):
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        prepare(text, '<code>')


# ---- errors ----------------------------------------------------------------------------------

def encode(text):
    return text.replace('\0', '\\x00').encode('utf-8', 'backslashreplace')


def headline(error):
    # The last line of a traceback, and the notes that were added to the error.
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ('builtins', '__main__'):
        name = '%s.%s' % (kind.__module__, name)
    try:
        text = str(error)
    except BaseException:
        text = '<its text cannot be made>'
    text = '%s: %s' % (name, text) if text else name
    notes = getattr(error, '__notes__', None)
    if isinstance(notes, list):
        text = '\n'.join([text] + [note for note in notes if isinstance(note, str)])
    return text


def source_line(name, line):
    lines = sources.get(name)
    if lines is None:
        if name.startswith('<'):
            return ''
        import linecache
        return linecache.getline(name, line).strip()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ''


def entry(name, line, function):
    text = 'File "%s", line %s, in %s' % (name, line, function)
    try:
        source = source_line(name, line or 0)
    except Exception:
        source = ''
    return '%s: %s' % (text, source) if source else text


def frames(error):
    tb = error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if code.co_filename != '<lazaret>':
            yield code.co_filename, tb.tb_lineno, code.co_name
        tb = tb.tb_next


def entries(found):
    # At most SHOWN_FRAMES of them: the outermost and the innermost; repeated ones are counted.
    texts, previous, count = [], None, 0
    if len(found) > 20 * SHOWN_FRAMES:
        half = 10 * SHOWN_FRAMES
        middle = '[%d entries left out]' % (len(found) - 2 * half)
        found = found[:half] + [middle] + found[-half:]
    for frame in found + [None]:
        if frame == previous:
            count += 1
            if count > 3:
                continue
        else:
            if count > 3:
                texts.append('[the line above %d more times]' % (count - 3))
            previous, count = frame, 1
        if frame is not None:
            texts.append(frame)
    if len(texts) > SHOWN_FRAMES:
        half = SHOWN_FRAMES // 2
        left = '[%d entries left out]' % (len(texts) - 2 * half)
        texts = texts[:half] + [left] + texts[-half:]
    return [text if isinstance(text, str) else entry(*text) for text in texts]


def chain(error):
    # The error, and before it what led to it, each with the words that join it to the next.
    errors, seen, join = [], set(), ''
    while error is not None and id(error) not in seen and len(errors) < 10:
        seen.add(id(error))
        errors.append((error, join))
        if error.__cause__ is not None:
            error, join = error.__cause__, 'which was the direct cause of:'
        elif not error.__suppress_context__:
            error, join = error.__context__, 'while that was handled:'
        else:
            error = None
    errors.reverse()
    return errors


def describe(error, current):
    # (message, line in the code that runs, traceback outermost first), texts as bytes.
    line = 0
    trace = []
    for one, join in chain(error):
        found = list(frames(one))
        trace += entries(found)
        if one is error:
            for name, number, _ in found:
                if name == current:
                    line = number or 0
        else:
            trace += [headline(one), join]
    return encode(headline(error)), line, tuple(map(encode, trace))


def describe_syntax(error):
    # (message, line, column) of code that does not parse.
    line = column = 0
    message = headline(error)
    if isinstance(error, SyntaxError):
        line, column = error.lineno or 0, error.offset or 0
        text = error.msg
        if text.startswith("'await' outside"):
            text += '; asyncio.run(main()) runs a coroutine'
        message = '%s: %s' % (type(error).__name__, text)
    return encode(message), max(line, 0), max(column, 0)


# ---- the end ---------------------------------------------------------------------------------

def run_exit_functions():
    if 'atexit' in sys.modules:
        sys.modules['atexit']._run_exitfuncs()


def leave(error):
    # What the interpreter does when it exits; returns the status.
    status = error.code
    if status is None:
        status = 0
    elif not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    if 'threading' in sys.modules:
        sys.modules['threading']._shutdown()
    run_exit_functions()
    return status & 0xff


# ---- tools -----------------------------------------------------------------------------------

TYPES = {'string': str, 'number': float, 'integer': int, 'boolean': bool, 'array': list,
         'object': dict}
lazaret = type(sys)('lazaret', 'The tools of the host, as functions.')
lazaret.ToolError = ToolError
lazaret.tools = {}
sys.modules['lazaret'] = lazaret


def signature(parameters):
    # A required parameter after an optional one can only be given by name.
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


def make_tool(index, name, parameters):
    head, defaults, by_name_defaults = signature(parameters)
    given = ''.join('p%d, ' % i for i in range(len(parameters)))
    text = 'def tool(%s): return call(%d, (%s))' % (head, index, given)
    for code in compile(text, '<lazaret>', 'exec').co_consts:
        if isinstance(code, type(make_tool.__code__)):
            break
    changed = {'co_name': name, 'co_varnames': tuple(p[0] for p in parameters)}
    if hasattr(code, 'co_qualname'):
        changed['co_qualname'] = name
    tool = type(make_tool)(code.replace(**changed), globals(), name, defaults)
    tool.__kwdefaults__ = by_name_defaults or None
    tool.__annotations__ = {p[0]: TYPES[p[1]] for p in parameters if p[1] in TYPES}
    return tool


def define_tool(index, original, doc, parameters):
    # The function is found in builtins, so that `del` brings it back after an assignment; a tool
    # that has the name of a builtin is put before it for the code, not for modules.
    name = original.replace('.', '_')
    if name in (known.replace('.', '_') for known in lazaret.tools):
        raise ValueError("two tools would be called '%s' in Python" % name)
    names = [p[0] for p in parameters]
    for twice in names:
        if names.count(twice) > 1:
            raise ValueError("tool '%s' would have two parameters '%s' in Python"
                             % (original, twice))
    tool = make_tool(index, name, parameters)
    tool.__doc__ = doc
    lazaret.tools[original] = tool
    if not hasattr(lazaret, name):
        setattr(lazaret, name, tool)
    builtins = sys.modules['builtins']
    if hasattr(builtins, name):
        builtins = sys.modules['__main__']
    setattr(builtins, name, tool)


# ---- the start -------------------------------------------------------------------------------

def start(paths):
    sys.path[:0] = paths
    if sys.stdout is not None:
        sys.stdout.reconfigure(line_buffering=True)
    if 'linecache' not in sys.modules:
        sys.meta_path.insert(0, LinecacheFinder)
