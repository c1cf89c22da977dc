# SPDX-License-Identifier: MIT
# aio.py - tools as coroutines, for event loops of asyncio, and `await` outside of functions.
#
# Runs in the namespace of bootstrap.py, when the first such coroutine is made. The C part provides
# `begin`, which sends a call, `pump`, which takes the answers that have come, and `channel`, the
# descriptor to watch for them; for a loop that cannot watch it, a thread runs `serve`. It calls
# `settle` for each answer, in any thread, and `make_room` when refused calls may be tried again.
from _thread import get_ident, start_new_thread

turns = []    # (loop, thread, future) of coroutines waiting because too many calls are open
watched = {}  # loop: [open calls, descriptor; -1: the loop cannot watch one]


def watch(loop):
    entry = watched.get(loop)
    if entry is None:
        descriptor = channel()
        try:
            if descriptor >= 0:
                loop.add_reader(descriptor, pump)
        except NotImplementedError:
            descriptor = -1
        entry = watched[loop] = [0, descriptor]
    entry[0] += 1
    return entry[1] >= 0


def start_server():
    if claim_server():
        try:
            start_new_thread(serve, ())
        except BaseException:
            give_up_server()
            raise


def unwatch(loop):
    # Deferred, because the next call of a chain is sent before the loop gets there.
    entry = watched.get(loop)
    if entry is not None:
        entry[0] -= 1
        if entry[0] <= 0:
            loop.call_soon(release, loop)


def release(loop):
    entry = watched.get(loop)
    if entry is not None and entry[0] <= 0:
        del watched[loop]
        if entry[1] >= 0:
            loop.remove_reader(entry[1])


def send(index, args, loop, future):
    sent = False
    watching = watch(loop)
    try:
        if not watching:
            start_server()
        sent = begin(index, args, loop, future)
    finally:
        if not sent:
            unwatch(loop)
    return sent


async def later(index, args):
    import asyncio
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    while not send(index, args, loop, future):
        # Queue up before the second try, so that no wake-up in between is missed.
        turn = loop.create_future()
        turns.append((loop, get_ident(), turn))
        if send(index, args, loop, future):
            turn.cancel()
            break
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                make_room(1)
            raise
    return await future


def finish(loop, future, value, error):
    if not future.done():
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)
    unwatch(loop)


def in_loop(loop, thread, function, *args):
    # Nothing waits on a closed loop.
    try:
        if thread == get_ident():
            function(*args)
        else:
            loop.call_soon_threadsafe(function, *args)
        return True
    except RuntimeError:
        watched.pop(loop, None)
        return False


def settle(loop, thread, future, value, error):
    in_loop(loop, thread, finish, loop, future, value, error)


def take_turn(turn):
    if turn.done():
        make_room(1)
    else:
        turn.set_result(None)


def make_room(n):
    while n and turns:
        loop, thread, turn = turns.pop(0)
        if not turn.done() and in_loop(loop, thread, take_turn, turn):
            n -= 1


# ---- await outside of functions --------------------------------------------------------------

session_loop = None  # it lasts from one execution to the next, and so do the tasks in it
loop_process = 0


def take_loop():
    global session_loop, loop_process
    os = sys.modules['os']
    if session_loop is None or session_loop.is_closed() or loop_process != os.getpid():
        import asyncio
        import atexit
        session_loop = asyncio.new_event_loop()
        loop_process = os.getpid()
        atexit.register(end_loop)
    return session_loop


def end_loop():
    # As asyncio.run() at its end. In a child that the code has forked the loop is the parent's.
    loop, asyncio = session_loop, sys.modules['asyncio']
    if loop.is_closed() or loop.is_running() or loop_process != sys.modules['os'].getpid():
        return
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def run_coroutine(coroutine):
    code = coroutine.cr_code
    loop = take_loop()
    task = loop.create_task(coroutine)
    try:
        return loop.run_until_complete(task)
    except BaseException as error:
        if not task.done():  # an interrupt: what it waits for is cancelled, and handlers run
            task.cancel()
            loop.run_until_complete(sys.modules['asyncio'].wait([task]))
        if not task.cancelled():
            task.exception()  # somebody knows it
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is not code:
            trace = trace.tb_next
        raise error.with_traceback(trace or error.__traceback__)
    finally:
        loop.call_soon(loop.stop)  # what can run now does
        loop.run_forever()
