// SPDX-License-Identifier: MIT
// A backend for deepagents: a session of the shell runs an agent's commands, and has its files.
//
// The tools for files are those of BaseSandbox of the package `deepagents`, which runs commands for
// them. It is imported when a backend is made, and no earlier.

import { Box, FileError } from './box.js';
import { framework } from './framework.js';

const FILE_METHODS = ['ls', 'read', 'readRaw', 'grep', 'glob', 'write', 'edit', 'delete',
  'uploadFiles', 'downloadFiles'];

/** Why a file cannot be used: a code of deepagents, or what the box says. */
function reasonOf(error) {
  if (!(error instanceof FileError)) throw error;
  return error.code ?? error.message;
}

async function upload(box, [path, content]) {
  if (!path.startsWith('/')) return { path, error: 'invalid_path' };
  try {
    await box.write(path, content);
    return { path, error: null };
  } catch (error) {
    return { path, error: reasonOf(error) };
  }
}

async function download(box, path) {
  if (!path.startsWith('/')) return { path, content: null, error: 'invalid_path' };
  try {
    const content = await box.read(path);
    return { path, content, error: content ? null : 'file_not_found' };
  } catch (error) {
    return { path, content: null, error: reasonOf(error) };
  }
}

async function inOrder(list, work) {
  const all = [];
  for (const one of list) all.push(await work(one));
  return all;
}

/**
 * A backend for `createDeepAgent`, of a session of the runtime `shell`.
 *
 * @param {import('./index.js').Session} session
 * @param {import('./deepagents.js').BackendOptions} [options]
 */
export async function deepagentsBackend(session, { timeout } = {}) {
  const { BaseSandbox } = await framework('deepagents', 'deepagents');
  const box = await Box.open(session, timeout);
  const files = new class extends BaseSandbox {
    id = session.name;

    async execute(command) {
      const { status, reply } = await box.script(command);
      return { output: reply.toString(), exitCode: status, truncated: false };
    }

    uploadFiles(list) {
      return inOrder(list, (one) => upload(box, one));
    }

    downloadFiles(paths) {
      return inOrder(paths, (path) => download(box, path));
    }
  }();
  return {
    id: session.name,
    directory: box.directory,
    async execute(command) {
      const { output, status, truncated } = await box.command(command);
      return { output, exitCode: status, truncated };
    },
    ...Object.fromEntries(FILE_METHODS.map((name) => [name, files[name].bind(files)])),
  };
}
