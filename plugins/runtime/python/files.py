# SPDX-License-Identifier: MIT
# files.py - files that the code has left open: what is in their buffers is written out; and standard
# input.
#
# Runs in the namespace of bootstrap.py, when an execution has left a file open whose content is
# wanted. All objects are looked at, because nothing else knows of a file that csv.writer() has.


def is_file(kind):
    # By the type itself: the code may have changed what isinstance() says.
    return any(base is sys.modules['_io']._IOBase
               for base in type.__dict__['__mro__'].__get__(kind))


def write_out_one(file, fds):
    try:
        if not file.closed and file.writable() and file.fileno() in fds:
            file.flush()
    except Exception:
        pass  # it stays as it is, and the host is told that it is open


def write_out(fds):
    import gc
    kinds = {}
    for thing in gc.get_objects():
        kind = type(thing)
        if id(kind) not in kinds:
            kinds[id(kind)] = is_file(kind)
        if kinds[id(kind)]:
            write_out_one(thing, fds)


def renew_input():
    # Descriptor 0 is another file: what was read ahead of the old one is dropped.
    old = sys.__stdin__
    if old is not None and sys.stdin is old:
        sys.stdin = sys.__stdin__ = open(0, encoding=old.encoding, errors=old.errors, closefd=False)
