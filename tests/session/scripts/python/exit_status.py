import atexit
import sys

atexit.register(print, 'first registered')
atexit.register(lambda: print('second registered'))
try:
    sys.exit(41)
except SystemExit as leaving:
    print('caught', leaving.code)
finally:
    print('finally')
sys.stdout.write('no newline')
sys.exit(42)
