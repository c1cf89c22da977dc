# SPDX-License-Identifier: MIT
# bootstrap.py - the part of the runtime that is written in Python.
#
# The build turns it, report.py and tools.py into C strings; py_boot.c runs them in a common
# namespace named "lazaret": this one before any code of a session, the others when they are first
# needed, because compiling them would lengthen the start of each session. They import only modules
# that a started interpreter has already loaded: ast, inspect, linecache or traceback would take
# longer than the start itself.
import sys

ONLY_AST = 0x400
# Flags of compile(): `await` outside of functions, and what `from __future__ import` sets.
AWAIT, FUTURE = 0x2000, 0x1fe0000
KEPT_SOURCES = 200
KEPT_CHARACTERS = 4000000
# Flags of CPython's symbol tables (Include/internal/pycore_symtable.h): global by a statement;
# assigned or imported.
SYMBOL_GLOBAL, SYMBOL_BOUND = 1, 2 | 128
tool_names = set()  # names as spelled in Python
_ast = None  # the module, once code is more than an expression: to make its classes takes long
future = 0  # what code so far has imported from __future__
sources = {}  # executed code, by the file name that stands for it
kept = 0  # number of its characters
# Words with which no expression begins. Code that begins with one of them, spans several lines or
# assigns is compiled as statements.
STATEMENTS = {'assert', 'async', 'break', 'class', 'continue', 'def', 'del', 'for', 'from', 'global',
              'if', 'import', 'nonlocal', 'pass', 'raise', 'return', 'try', 'while', 'with'}


class ToolError(RuntimeError):
    """A tool failed, or the host refused to call it."""


lazaret = type(sys)('lazaret', 'The tools of the host, as functions.')
lazaret.ToolError = ToolError
lazaret.tools = {}
sys.modules['lazaret'] = lazaret


# ---- source text of what was executed --------------------------------------------------------

def keep_source(name, text):
    global kept
    kept += len(text) - len(sources.get(name, ''))
    sources[name] = text
    while len(sources) > KEPT_SOURCES or kept > KEPT_CHARACTERS:
        oldest = next(iter(sources))
        if oldest == name:
            break
        kept -= len(sources.pop(oldest))
        if 'linecache' in sys.modules:
            sys.modules['linecache'].cache.pop(oldest, None)
    if 'linecache' in sys.modules:
        show_source(sys.modules['linecache'], name)


def forget_sources():
    global kept
    sources.clear()
    kept = 0


def show_source(linecache, name):
    text = sources[name]
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)


def show_sources(linecache):
    for name in sources:
        show_source(linecache, name)


# Modules that are changed right after their import, and what does it. `guard` and `draws` are written
# in C: they run guards.py and figures.py.
changed = dict.fromkeys(('multiprocessing.' + name for name in (
    'connection', 'managers', 'popen_forkserver', 'popen_spawn_posix', 'resource_tracker',
    'synchronize')), guard)
changed['linecache'] = show_sources
changed['matplotlib.pyplot'] = draws


class ChangingFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        change = changed.pop(name, None)
        if change is None:
            return None
        spec = sys.modules['_frozen_importlib_external'].PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = ChangingLoader(spec.loader, change)
        return spec


class ChangingLoader:
    def __init__(self, loader, change):
        self.loader = loader
        self.change = change

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.change(module)


# ---- before the code runs --------------------------------------------------------------------

def binds(table, names, inner=False):
    # The first of `names` that is assigned by the module, or by a function in it through a global
    # statement.
    for symbol in names:
        flags = table.symbols.get(symbol, 0)
        if flags & SYMBOL_BOUND and (flags & SYMBOL_GLOBAL or not inner):
            return symbol
    for child in table.children:
        found = binds(child, names, True)
        if found:
            return found
    return None


def find_line(node, symbol):
    # Finds the place of the assignment; names that are only read have another context.
    fields = [getattr(node, field, None) for field in node._fields]
    if symbol in fields and not isinstance(getattr(node, 'ctx', None), _ast.Load):
        line = getattr(node, 'lineno', 0)
        if line:
            return line
    for field in fields:
        for child in field if isinstance(field, list) else [field]:
            line = find_line(child, symbol) if isinstance(child, _ast.AST) else 0
            if line:
                return line
    return 0


def keep_tools(text, name, tree):
    # The name of a tool cannot be assigned to, like None. This catches accidents before anything
    # runs; code that assigns on purpose can do so and harms only itself.
    names = [tool for tool in tool_names if tool in text]
    if not names:
        return
    import _symtable
    symbol = binds(_symtable.symtable(text, name, 'exec'), names)
    if symbol:
        line = find_line(tree, symbol) or 1
        raise SyntaxError("cannot assign to %s: it is a tool of the host" % symbol,
                          (name, line, None, (text.splitlines() or [''])[line - 1]))


def prepare_expression(text, name, flags):
    # Compiles a single line that is an expression; None when it is not. This is faster than the
    # general way, which parses statements first to see whether the last one is an expression. An
    # expression cannot assign to the name of a tool.
    line = text.rstrip()
    if (not line or line[0] in ' \t\f' or '\n' in line or '=' in line or ';' in line or
            line.split(None, 1)[0] in STATEMENTS):
        return None
    try:
        return compile_expression(text, name, flags)
    except SyntaxError:
        return None  # compiling it as statements reports the error


def prepare(text, name, flags):
    last = prepare_expression(text, name, flags)
    if last is not None:
        return None, last
    global _ast
    if _ast is None:
        import _ast
    tree = compile(text, name, 'exec', ONLY_AST | flags, True)
    keep_tools(text, name, tree)
    last = None
    if tree.body and type(tree.body[-1]) is _ast.Expr:
        last = _ast.Expression(tree.body.pop().value)
    body = compile(tree, name, 'exec', flags, True) if tree.body else None
    if last is not None:
        last = compile(last, name, 'eval', flags | (body.co_flags & FUTURE if body else 0), True)
    return body, last


def prepare_run(text, name, is_file):
    # Keep the source first, because the compiler may warn about a line of it.
    global future
    keep_source(name, text)
    body, last = prepare(text, name, future if is_file else future | AWAIT)
    if body is not None:
        future |= body.co_flags & FUTURE
    return body, last


def prepare_check(text):
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        prepare(text, '<code>', future | AWAIT)


# ---- the start and the end -------------------------------------------------------------------

FileIO = sys.modules['io'].FileIO


class Output(FileIO):
    # A standard stream. What is written to both of them arrives in that order.
    write = write_output


def open_stream(number, name):
    old = getattr(sys, name)
    if old is None:
        return
    io = sys.modules['io']
    raw = Output(number, 'w', closefd=False)
    raw.name = '<%s>' % name
    stream = io.TextIOWrapper(io.BufferedWriter(raw), old.encoding, old.errors, newline='\n',
                              line_buffering=True, write_through=number == 2)
    stream.mode = 'w'
    setattr(sys, name, stream)
    setattr(sys, '__%s__' % name, stream)


def load_site():
    # Makes sys.path and the names that `site` defines. The host's packages have code there: lines of
    # their .pth files, sitecustomize. In a session none of it runs, only paths are read. Code that
    # calls `site` later gets what it asks for.
    import site
    customize = site.execsitecustomize
    site.exec = lambda line: None  # in place of the builtin, for lines of .pth files
    site.execsitecustomize = lambda: None
    try:
        site.main()
    finally:
        del site.exec
        site.execsitecustomize = customize


def start(paths):
    if sys.flags.no_site:
        raise RuntimeError('this Python has other flags than those known')
    load_site()
    import _signal
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)  # as python3 does, for its own SIGINT
    sys.unraisablehook = drop
    sys.path[:0] = paths
    set_command_line([])
    open_stream(1, 'stdout')
    open_stream(2, 'stderr')
    sys.meta_path.insert(0, ChangingFinder)


def set_command_line(argv):
    if hasattr(sys, 'orig_argv'):
        sys.orig_argv[:] = [sys.executable] + argv


def set_script(argv, directory):
    sys.argv[:] = argv
    set_command_line(argv)
    sys.modules['__main__'].__file__ = argv[0]
    if directory is not None:
        sys.path.insert(0, directory)
        find_unlisted(directory)


class AnyName:
    def __contains__(self, name):
        return True


def find_unlisted(directory):
    # Modules are found by the names in their directory. A box may show some of its files and not
    # their names, also in packages below it; there each name that could be a module's is tried.
    import posix
    machinery = sys.modules['_frozen_importlib_external']

    class Finder(machinery.FileFinder):
        def _fill_cache(self):
            self._path_cache = self._relaxed_path_cache = AnyName()

    def find(path):
        if path == directory or path.startswith(directory + '/'):
            try:
                posix.listdir(path)
            except PermissionError:
                return Finder(path, *machinery._get_supported_file_loaders())
            except OSError:
                pass  # it is not there
        raise ImportError

    sys.path_hooks.insert(0, find)


def run_exit_functions():
    if 'atexit' in sys.modules:
        sys.modules['atexit']._run_exitfuncs()
