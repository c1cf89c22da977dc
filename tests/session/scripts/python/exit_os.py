import os

print('shown', flush=True)
print('lost in a buffer', end='')
os.close(1)
os._exit(7)
