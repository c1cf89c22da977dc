import array
import mmap
from multiprocessing import shared_memory

block = shared_memory.SharedMemory(create=True, size=16)
same = shared_memory.SharedMemory(block.name)
block.buf[:4] = b'abcd'
print(bytes(same.buf[:4]))
same.close()
block.close()
block.unlink()
with open('mapped', 'w+b') as file:
    file.truncate(mmap.PAGESIZE)
    with mmap.mmap(file.fileno(), 0) as view:
        view[10:15] = b'hello'
    file.seek(10)
    print(file.read(5))
print(array.array('h', [1, -2]).tobytes(), memoryview(b'abcdef')[1:5:2].tolist())
