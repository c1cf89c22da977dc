import argparse
import sys

parser = argparse.ArgumentParser(prog='arguments')
parser.add_argument('first')
parser.add_argument('--number', type=int, default=7)
parser.add_argument('rest', nargs='*')
print(vars(parser.parse_intermixed_args()), len(sys.argv), __name__, sys.flags.interactive)
parser.parse_args(['--number', 'many', 'x'])
