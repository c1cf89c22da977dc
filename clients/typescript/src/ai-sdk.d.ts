// SPDX-License-Identifier: MIT
import type { Approve, Server, Session, ToolLike, ToolOptions } from './index.js';

export interface CodeToolOptions {
  /** Where the code runs; what it defines is there for the next call. */
  session?: Session;
  /** Without a session: the language. Absent: javascript where it is installed, else python. */
  runtime?: string;
  /** Without a session: functions that the code can call. */
  tools?: Iterable<ToolOptions>;
  /** Without a session: decides on calls of tools that need an approval. */
  approve?: Approve;
  /** Without a session: where it runs; otherwise the default server. */
  server?: Server;
  /** What the model is told; otherwise it is made of the tools. */
  description?: string;
  /** Milliseconds that the code may run, without the time of its tools. */
  timeout?: number;
  /** Milliseconds of the whole execution. */
  deadline?: number;
}

/** What the tool gives. */
export interface CodeOutput {
  /** "ok", "error", "timeout", ... */
  verdict: string;
  /** Why the verdict is not "ok". */
  error?: string;
  traceback?: string[];
  /** The value as the language prints it. */
  text: string | null;
  stdout: string;
  stderr: string;
  artifacts: { name: string; type: string; size: number }[];
  /** Those that did not come as a whole; absent: there are none. */
  artifactsLost?: { name: string; bytes: number; why: string }[];
  /** Pictures, in base64. */
  images: { mediaType: string; data: string }[];
}

/** A tool of the AI SDK, without a need for its types here. */
export interface CodeTool {
  description?: string;
  inputSchema: any;
  execute(input: { code: string }, options?: { abortSignal?: AbortSignal; [key: string]: any }):
    Promise<CodeOutput>;
  toModelOutput(options: { output: CodeOutput; [key: string]: any }): any;
  [member: string]: any;
}

/** A tool for `generateText` and `streamText` that runs code. It needs the package `ai`. */
export function codeTool(options?: CodeToolOptions): Promise<CodeTool>;

export interface CodeModeOptions {
  /** Where it runs; otherwise the default server. */
  server?: Server;
  /** Decides on calls of tools that need an approval. */
  approve?: Approve;
  /** Milliseconds that the code may run, without the time of its tools. */
  timeout?: number;
  /** Milliseconds of the whole execution. */
  deadline?: number;
}

/**
 * In the place of `experimental_codeModeTool` of @ai-sdk/code-mode, which calls the tools that
 * `experimental_toolCallers` says. It needs the package `ai`, version 7.
 */
export function codeModeTool(options?: CodeModeOptions): Promise<any>;

/** Tools for a session, of those of the AI SDK that have `execute`. It needs the package `ai`. */
export function aiTools(toolSet: Record<string, any>): Promise<ToolOptions[]>;

export type { ToolLike };
