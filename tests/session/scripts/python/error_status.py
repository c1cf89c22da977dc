import sys
import traceback


class Refused(Exception):
    pass


def inner():
    raise KeyError('missing')


try:
    inner()
except KeyError:
    frames = traceback.extract_tb(sys.exc_info()[2])
    print([(f.name, f.line) for f in frames], traceback.format_exc().splitlines()[-1])
try:
    raise ExceptionGroup('both', [ValueError(1), TypeError(2)])
except* ValueError as group:
    print(group.exceptions)
except* TypeError as group:
    print(group.message)
print('before the end', flush=True)
try:
    inner()
except KeyError as error:
    raise Refused('no way') from error
