import sys

print('out')
sys.exit('a text is written to standard error')
