# SPDX-License-Identifier: MIT
# report.py - describes errors and values, and handles SystemExit.
#
# Runs in the namespace of bootstrap.py. Frames of the runtime have the file name <lazaret> and are
# not shown.
from _thread import get_ident

SHOWN_FRAMES = 100
SHOWN_ERRORS = 20  # of a group


def encode(text):
    return text.replace('\0', '\\x00').encode('utf-8', 'backslashreplace')


def plain_name(name):
    return ''.join(c for c in name.lower() if c.isalnum())


def tool_meant(name):
    # Where no variable is called so: the tools that are, as they are declared or as another
    # language writes them.
    tools = lazaret.tools.items()
    meant = [tool.__name__ for declared, tool in tools
             if plain_name(name) in (plain_name(declared), plain_name(tool.__name__))]
    if not meant:
        meant = [tool.__name__ for declared, tool in tools
                 if declared.startswith((name + '.', name + '-'))]
    if not meant:
        return ''
    more = ', ...' if len(meant) > 3 else ''
    return '; here it is %s' % (' or '.join(meant[:3]) + more)


def headline(error):
    # The last line of a traceback and the notes added to the error.
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ('builtins', '__main__'):
        name = '%s.%s' % (kind.__module__, name)
    try:
        text = str(error)
    except BaseException:
        text = '<its text cannot be created>'
    text = '%s: %s' % (name, text) if text else name
    if kind is NameError and isinstance(error.name, str):
        text += tool_meant(error.name)
    notes = getattr(error, '__notes__', None)
    if isinstance(notes, list):
        text = '\n'.join([text] + [note for note in notes if isinstance(note, str)])
    return text


class Listener:
    # Stands for standard error while this thread writes to it.
    def __init__(self, stream):
        self.stream, self.thread, self.texts = stream, get_ident(), []

    def write(self, text):
        if get_ident() == self.thread:
            self.texts.append(text)
        else:
            self.stream.write(text)

    def flush(self):
        pass


def suggestion(error, text):
    # What the interpreter adds to the message of an error when it prints one: "Did you mean: 'x'?"
    if not isinstance(error, (NameError, AttributeError, ImportError)):
        return ''
    trace, cause, suppress = error.__traceback__, error.__cause__, error.__suppress_context__
    stream, innermost = sys.stderr, trace
    listener = Listener(stream)
    try:
        while innermost is not None and innermost.tb_next is not None:
            innermost = innermost.tb_next
        error.__traceback__, error.__cause__ = innermost, None
        sys.stderr = listener
        sys.__excepthook__(type(error), error, innermost)
    except Exception:
        return ''
    finally:
        sys.stderr = stream
        error.__traceback__, error.__cause__ = trace, cause
        error.__suppress_context__ = suppress
    first = text.partition('\n')[0]
    for line in ''.join(listener.texts).splitlines():
        if line.startswith(first + '. Did you '):
            return line[len(first):]
    return ''


def members(error):
    # The errors of a group.
    errors = getattr(error, 'exceptions', None)
    return errors if type(errors) is tuple and isinstance(error, BaseException) else ()


def causes(error, indent='  ', depth=5):
    # The errors of a group, each with the place where it was raised; groups in it likewise.
    lines = []
    errors = [one for one in members(error) if isinstance(one, BaseException)]
    for number, one in enumerate(errors[:SHOWN_ERRORS], 1):
        lines += ['%s%d: %s' % (indent, number, headline(one).replace('\n', '\n  ' + indent))]
        found = list(frames(one))
        if found:
            lines.append('%s   %s' % (indent, entry(*found[-1])))
        if depth:
            lines += causes(one, indent + '   ', depth - 1)
    if len(errors) > SHOWN_ERRORS:
        lines.append('%s... and %d more' % (indent, len(errors) - SHOWN_ERRORS))
    return lines


def summary(error):
    text = headline(error)
    first, newline, rest = text.partition('\n')
    return '\n'.join([first + suggestion(error, text) + newline + rest] + causes(error))


split = {}  # lines of the executed code, while an error is described


def source_line(name, line):
    text = sources.get(name)
    if text is None:
        if name.startswith('<'):
            return ''
        import linecache
        return linecache.getline(name, line).strip()
    if name not in split:
        split[name] = text.splitlines()
    return split[name][line - 1].strip() if 0 < line <= len(split[name]) else ''


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
    # Shows at most SHOWN_FRAMES frames, the outermost and the innermost; repeated ones are counted.
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
    # The error, preceded by the errors that led to it, each with the words that join it to the
    # next.
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
    try:
        return described(error, current)
    finally:
        split.clear()


def described(error, current):
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
            trace += [summary(one), join]
    return encode(summary(error)), line, tuple(map(encode, trace))


# What notebooks have, and plain Python has not.
INSTALL = 'code does not install packages here; import what there is'
MAGIC = {
    'matplotlib': 'leave it out: figures that are drawn are kept',
    'time': 'measure with time.perf_counter()',
    'timeit': 'call timeit.timeit()',
    'run': 'write runpy.run_path(...)',
    'cd': 'write os.chdir(...)',
    'ls': 'write os.listdir()',
    'pwd': 'write os.getcwd()',
    'env': 'write os.environ',
    'pip': INSTALL,
    'conda': INSTALL,
}


def notebook(error):
    # What to write in place of a line that only notebooks take.
    lines = (error.text or '').splitlines() or ['']
    line = lines[0].strip()
    target, _, command = line.partition('=')
    if not (target and command.strip()[:1] in ('!', '%')):
        target, command = '', line
    command = command.strip()
    word = (command.lstrip('!%').split(None, 1) or [''])[0]
    if command.startswith('!'):
        if word in ('pip', 'pip3', 'conda'):
            return '; `!` is of notebooks: ' + INSTALL
        shown = command.lstrip('!').strip()
        more = ', capture_output=True, text=True).stdout' if target else ')'
        return '; `!` is of notebooks: write subprocess.run(%r, shell=True%s' % (shown, more)
    if command.startswith('%'):
        return '; `%%` is of notebooks: %s' % MAGIC.get(word, 'write plain Python in its place')
    name = line.strip('? ')
    if not name or name == line:
        return ''
    call = 'inspect.getsource' if line.count('?') > 1 else 'help'
    return '; `?` is of notebooks: write %s(%s)' % (call, name)


def describe_syntax(error):
    # (message, line, column) for code that does not parse.
    line = column = 0
    message = headline(error)
    if isinstance(error, SyntaxError):
        line, column = error.lineno or 0, error.offset or 0
        text = error.msg
        if text.startswith("'await' outside"):
            text += '; asyncio.run(main()) runs a coroutine'
        text += notebook(error)
        message = '%s: %s' % (type(error).__name__, text)
    return encode(message), max(line, 0), max(column, 0)


# ---- a value that cannot be sent -------------------------------------------------------------

BRACKETS = ((dict, '{', '}'), (list, '[', ']'), (tuple, '(', ')'), (set, '{', '}'),
            (frozenset, 'frozenset({', '})'))


def beginning(value, room=4000):
    # The text of a value that is too large, or nested too deeply, to be sent. What holds values of
    # the code begins as repr() would, which takes as much memory again: `room` characters of it.
    if isinstance(value, (str, bytes, bytearray)):
        return repr(value) if len(value) <= room else '%r...' % value[:room]
    for kind, left, right in BRACKETS:
        if isinstance(value, kind):
            break
    else:
        return repr(value)
    texts = []
    for item in dict.items(value) if kind is dict else kind.__iter__(value):
        if room < 8:
            texts.append('...')
            break
        if kind is dict:
            text = '%s: %s' % (beginning(item[0], room // 2), beginning(item[1], room // 2))
        else:
            text = beginning(item, room // 2)
        texts.append(text)
        room -= len(text) + 2
    text = left + ', '.join(texts) + right
    return text if type(value) is kind else '%s(%s)' % (type(value).__name__, text)


# ---- sys.excepthook ---------------------------------------------------------------------------

def call_hook(error):
    # The interpreter's own hook prints what is reported anyway.
    hook = getattr(sys, 'excepthook', None)
    if hook is None or hook is sys.__excepthook__:
        return
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as wrong:
        print('Error in sys.excepthook: %s' % headline(wrong), file=sys.stderr)


# ---- the end ---------------------------------------------------------------------------------

def leave(error):
    # Does what the interpreter does on SystemExit; returns the exit status.
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
