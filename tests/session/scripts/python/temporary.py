import os
import pathlib
import shutil
import tempfile

with tempfile.TemporaryDirectory() as name:
    path = pathlib.Path(name) / 'deep' / 'file.txt'
    path.parent.mkdir()
    path.write_text('one\ntwo\n')
    print(path.stat().st_size, path.suffix, [p.name for p in pathlib.Path(name).rglob('*')])
print(os.path.exists(name))
with tempfile.NamedTemporaryFile('w+', suffix='.x') as file:
    print('text', file=file)
    file.seek(0)
    print(file.read(), os.path.basename(file.name).endswith('.x'))
with tempfile.TemporaryFile() as file:
    print(file.write(b'abc'), file.tell())
os.makedirs('made/here')
pathlib.Path('made/here/a').write_bytes(bytes(range(10)))
shutil.copytree('made', 'copied')
os.symlink('a', 'made/here/link')
os.rename('copied', 'moved')
shutil.make_archive('packed', 'zip', 'moved')
os.remove('packed.zip')
for directory, names, files in sorted(os.walk('.')):
    print(directory, sorted(names), sorted(files))
os.remove('nowhere')
