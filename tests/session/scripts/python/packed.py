import base64
import gzip
import hashlib
import pickle
import struct
import zipfile
import zlib

data = b'text ' * 200
print(hashlib.sha256(data).hexdigest(), zlib.crc32(data), len(zlib.compress(data)),
      base64.b64encode(b'\x00\xff'))
with gzip.open('data.gz', 'wb') as file:
    file.write(data)
print(gzip.open('data.gz').read() == data, struct.pack('>hI', -2, 70000),
      struct.unpack('<d', bytes(7) + b'@'))
with zipfile.ZipFile('data.zip', 'w') as file:
    file.writestr(zipfile.ZipInfo('inside.txt'), data)
print(zipfile.ZipFile('data.zip').namelist())
open('data.gz', 'w').close()
print(pickle.loads(pickle.dumps({'a': [1, (2, 3)], 'b': {4}})))
pickle.loads(b'broken')
