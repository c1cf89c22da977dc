import sys

print(input(), input('prompt? '))
print(sys.stdin.readline().strip(), [line.rstrip() for line in sys.stdin])
print(repr(sys.stdin.read()), sys.stdin.isatty(), sys.stdin.encoding)
try:
    input()
except EOFError as error:
    print('end:', error)
