// SPDX-License-Identifier: MIT
// A registry of npm on loopback, with the packages of a directory and no others.
//
// usage: node registry.js DIRECTORY
//
// It prints its address, and ends when its standard input does.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const directory = process.argv[2];
const packages = new Map();

for (const file of readdirSync(directory).filter((name) => name.endsWith('.tgz'))) {
  const content = readFileSync(join(directory, file));
  const description = JSON.parse(execFileSync('tar', ['-xzOf', '-', 'package/package.json'], { input: content }));
  packages.set(description.name, { file, content, description });
}

function packument({ file, content, description }, host) {
  const version = {
    ...description,
    dist: {
      tarball: `http://${host}/-/${file}`,
      integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
    },
  };
  return {
    name: description.name,
    'dist-tags': { latest: description.version },
    versions: { [description.version]: version },
  };
}

const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url.slice(1));
  const tarball = [...packages.values()].find(({ file }) => path === `-/${file}`);
  if (tarball) {
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(tarball.content);
  } else if (packages.has(path)) {
    response.writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(packument(packages.get(path), request.headers.host)));
  } else {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
  }
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
