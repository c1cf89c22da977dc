// SPDX-License-Identifier: MIT
import type { Session } from './index.js';

export interface BackendOptions {
  /** Milliseconds that a command may run; absent: as the configuration says. */
  timeout?: number;
}

type FileError = 'file_not_found' | 'permission_denied' | 'is_directory' | 'invalid_path';

interface FileInfo {
  path: string;
  is_dir?: boolean;
  size?: number;
  modified_at?: string;
}

interface Changed {
  error?: string;
  path?: string;
  filesUpdate?: null;
}

/** A `SandboxBackendProtocolV2` of deepagents, without a need for its types here. */
export interface Backend {
  /** The name of the session. */
  readonly id: string;
  /** Where commands begin. */
  readonly directory: string;
  /** Run a command in a bash of its own; its exit status, and both streams as they came. */
  execute(command: string): Promise<{ output: string; exitCode: number; truncated: boolean }>;
  ls(path: string): Promise<{ error?: string; files?: FileInfo[] }>;
  read(path: string, offset?: number, limit?: number): Promise<{
    error?: string;
    content?: string | Uint8Array;
    mimeType?: string;
    totalLines?: number;
    startLine?: number;
    endLine?: number;
    nextOffset?: number;
  }>;
  readRaw(path: string): Promise<{
    error?: string;
    data?: {
      content: string | Uint8Array;
      mimeType: string;
      created_at: string;
      modified_at: string;
    };
  }>;
  grep(pattern: string, path?: string | null, glob?: string | null, maxCount?: number | null):
    Promise<{
      error?: string;
      matches?: { path: string; line: number; text: string }[];
      truncated?: boolean;
    }>;
  glob(pattern: string, path?: string):
    Promise<{ error?: string; files?: FileInfo[]; truncated?: boolean }>;
  write(path: string, content: string): Promise<Changed>;
  edit(path: string, oldString: string, newString: string, replaceAll?: boolean):
    Promise<Changed & { occurrences?: number }>;
  delete(path: string): Promise<Changed>;
  /** `error` is what the box says where none of the codes fits: a full disk, for example. */
  uploadFiles(files: [string, Uint8Array][]): Promise<{ path: string; error: FileError | null }[]>;
  downloadFiles(paths: string[]):
    Promise<{ path: string; content: Uint8Array | null; error: FileError | null }[]>;
}

/** A backend for `createDeepAgent`, of a session of the runtime `shell`. */
export function deepagentsBackend(session: Session, options?: BackendOptions): Promise<Backend>;
