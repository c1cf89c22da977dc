import os as o, ctypes
from subprocess import (run,
  Popen as P)
x = """
os.system(1)
""" + rb"eval(1)"
o.system("x"); P(1); getattr(o, "popen")(1)
