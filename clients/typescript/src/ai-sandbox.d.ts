// SPDX-License-Identifier: MIT
import type { Session } from './index.js';

export interface SandboxOptions {
  /** Milliseconds that a command may run; absent: as the configuration says. */
  timeout?: number;
  /** What a model may be told of it; otherwise it says where commands begin, and what there is. */
  description?: string;
}

interface Abortable {
  abortSignal?: AbortSignal;
}

interface OfPath extends Abortable {
  /** A relative one begins where commands do. */
  path: string;
}

interface Command extends Abortable {
  command: string;
  workingDirectory?: string;
  env?: Record<string, string>;
}

/** A process that was spawned: it ends with the session at the latest. */
export interface SandboxProcess {
  readonly pid?: number;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  wait(): Promise<{ exitCode: number }>;
  kill(): Promise<void>;
}

/** A sandbox session of the AI SDK, without a need for its types here. */
export interface Sandbox {
  readonly description: string;
  readonly readFile: (options: OfPath) => Promise<ReadableStream<Uint8Array> | null>;
  readonly readBinaryFile: (options: OfPath) => Promise<Uint8Array | null>;
  readonly readTextFile: (options: OfPath & {
    encoding?: string;
    startLine?: number;
    endLine?: number;
  }) => Promise<string | null>;
  readonly writeFile: (options: OfPath & { content: ReadableStream<Uint8Array> }) => Promise<void>;
  readonly writeBinaryFile: (options: OfPath & { content: Uint8Array }) => Promise<void>;
  readonly writeTextFile: (options: OfPath & { content: string; encoding?: string }) =>
    Promise<void>;
  readonly stat: (options: OfPath) =>
    Promise<{ type: 'file' | 'directory' | 'other'; size: number } | null>;
  readonly listDirectory: (options: OfPath) =>
    Promise<{ name: string; type: 'file' | 'directory' | 'symlink' | 'other' }[] | null>;
  readonly deleteFile: (options: OfPath) => Promise<boolean>;
  /** Rejects where `stdin` is true: the standard input of a process is empty. */
  readonly spawn: (options: Command & { stdin?: boolean }) => Promise<any>;
  readonly run: (options: Command) =>
    Promise<{ exitCode: number; stdout: string; stderr: string }>;
}

/** A sandbox for `experimental_sandbox` of the AI SDK, of a session of the runtime `shell`. */
export function aiSandbox(session: Session, options?: SandboxOptions): Promise<Sandbox>;
