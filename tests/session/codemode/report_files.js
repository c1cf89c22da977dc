// Writes a report, reads it back, walks the directory.
import fs from 'node:fs';
import path from 'node:path';
import { mkdir, readFile, readdir, stat } from 'fs/promises';
const root = fs.mkdtempSync(path.join(require('os').tmpdir(), 'report-'));
const { items } = await list_users({ limit: 7 });
for (const u of items) {
  const dir = path.join(root, u.city.toLowerCase());
  await mkdir(dir, { recursive: true });
  fs.writeFileSync(path.join(dir, `${u.id}.json`), JSON.stringify(u, null, 2) + '\n');
}
fs.appendFileSync(path.join(root, 'index.txt'), items.map((u) => u.name).join('\n'));
async function* walk(dir) {
  for (const entry of (await readdir(dir, { withFileTypes: true })).sort((a, b) => a.name < b.name ? -1 : 1)) {
    const at = path.join(dir, entry.name);
    if (entry.isDirectory()) yield* walk(at); else yield at;
  }
}
let bytes = 0;
for await (const file of walk(root)) {
  bytes += (await stat(file)).size;
  console.log(path.relative(root, file), path.extname(file) === '.json' ? JSON.parse(await readFile(file, 'utf8')).email : '-');
}
const lines = fs.readFileSync(path.join(root, 'index.txt'), 'utf-8').split('\n');
fs.renameSync(path.join(root, 'index.txt'), path.join(root, 'names.txt'));
let missing;
try { fs.readFileSync(path.join(root, 'index.txt')); } catch (e) { missing = [e.code, e.syscall, e instanceof Error]; }
fs.rmSync(root, { recursive: true });
({ lines: lines.length, bytes: bytes > 500, missing, gone: !fs.existsSync(root), base: path.basename('/a/b.tar.gz', '.gz'), norm: path.normalize('/a/./b/../c//d') });
