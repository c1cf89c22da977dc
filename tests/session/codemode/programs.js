// Programs of the box.
import { execFileSync, spawnSync, execSync } from 'node:child_process';
const text = execFileSync('sort', ['-n'], { input: '10\n9\n100\n', encoding: 'utf8' });
const counted = spawnSync('wc', ['-c'], { input: 'hello', encoding: 'utf8' });
const shell = execSync('printf "%s-%s" a b | tr a-z A-Z').toString();
let failed;
try { execFileSync('sh', ['-c', 'echo oops >&2; exit 3'], { stdio: 'pipe' }); } catch (e) { failed = { status: e.status, err: String(e.stderr).trim() }; }
const none = spawnSync('no-such-program', []);
console.log({ failed, none: none.error.code });
[text.trim().split('\n').map(Number), counted.stdout.trim(), counted.status, shell];
