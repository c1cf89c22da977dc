# SPDX-License-Identifier: MIT
# guards.py - parts of multiprocessing that need what a sandbox does not have fail at once, with a
# sentence that says what works.
#
# Runs in the namespace of bootstrap.py, when the code imports one of the modules below. By
# themselves some of these functions would wait forever for a child that cannot begin, and others
# raise an error that does not say what is missing. What is missing is tried at each call, because
# it depends on the backend and on the settings.
import os

FORK = 'Pool and Process with the start method fork work'


def socket_is_missing():
    import _socket
    try:
        if hasattr(_socket, 'AF_UNIX'):
            _socket.socket(_socket.AF_UNIX).close()
    except PermissionError:
        return 'needs a socket, which this sandbox does not have; ' + FORK


def semaphore_is_missing():
    import _multiprocessing
    try:
        _multiprocessing.SemLock(1, 1, 1, '/mp-lazaret%d' % os.getpid(), True)
    except FileExistsError:
        pass  # another thread is trying it
    except PermissionError:
        return ('needs a semaphore in /dev/shm, which this sandbox does not have; Process and '
                'Pipe with the start method fork work, and so do threads')


def program_is_missing():
    if not os.access(sys.executable, os.X_OK):
        return 'needs the program python3, which sandbox.programs does not include; ' + FORK


def main_is_missing():
    # A child that is not forked loads what __main__ has defined from its file.
    main = sys.modules['__main__']
    try:
        if hasattr(main, '__file__'):
            open(main.__file__, 'rb').close()
            return None
        if all(getattr(value, '__module__', None) != '__main__' for value in vars(main).values()):
            return None
    except OSError:
        pass
    return ('needs the functions of __main__ in a file that the sandbox shows, as '
            '`lazaret run FILE` does; ' + FORK)


# By module: a class, its method, what the method is called in the sentence, what it needs.
GUARDED = {
    'connection': [('SocketListener', '__init__', 'Listener', socket_is_missing)],
    'managers': [('BaseManager', 'start', 'Manager', socket_is_missing)],
    'popen_forkserver': [('Popen', '__init__', 'the start method forkserver', socket_is_missing),
                         ('Popen', '__init__', 'the start method forkserver', main_is_missing)],
    'popen_spawn_posix': [('Popen', '__init__', 'the start method spawn', main_is_missing)],
    'resource_tracker': [('ResourceTracker', 'ensure_running', 'the resource tracker',
                          program_is_missing)],
    'synchronize': [('SemLock', '__init__', 'a lock, queue or pool', semaphore_is_missing)],
}


def guarded(method, what, missing):
    def call(self, *args, **named):
        why = missing()
        if why is not None:
            raise PermissionError(1, 'multiprocessing: %s %s' % (what, why))
        return method(self, *args, **named)
    call.__name__, call.__qualname__, call.__doc__ = (
        method.__name__, method.__qualname__, method.__doc__)
    call.__wrapped__ = method
    return call


def guard_module(module):
    for owner, name, what, missing in GUARDED[module.__name__.rpartition('.')[2]]:
        owner = getattr(module, owner, None)
        if hasattr(owner, name):
            setattr(owner, name, guarded(getattr(owner, name), what, missing))
