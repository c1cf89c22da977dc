// SPDX-License-Identifier: MIT
import type { Server } from './index.js';

export interface LazaretExecutorOptions {
  /** The language of the model's code. Absent: javascript. */
  runtime?: string;
  /** Where it runs; otherwise the default server. */
  server?: Server;
  /** Milliseconds that the code may run, without the time of its tools. */
  timeout?: number;
  /** Milliseconds of the whole execution. */
  deadline?: number;
}

/** As in @cloudflare/codemode. */
export interface ExecuteResult {
  result: unknown;
  error?: string;
  logs?: string[];
}

/** As in @cloudflare/codemode. */
export interface ResolvedProvider {
  name: string;
  fns: Record<string, (...args: any[]) => Promise<unknown>>;
  positionalArgs?: boolean;
  /** JavaScript that is run before the code; for code of another language it is refused. */
  prelude?: string;
}

/** An Executor for `createCodeTool`: each execution has a fresh session. */
export class LazaretExecutor {
  constructor(options?: LazaretExecutorOptions);
  /** Never rejects. Connectors, which need a Worker, are refused. */
  execute(
    code: string,
    providersOrFns: ResolvedProvider[] | Record<string, (...args: any[]) => Promise<unknown>>,
    options?: { connectors?: readonly unknown[] },
  ): Promise<ExecuteResult>;
}

/** A description for `createCodeTool` that asks for code of this language. Absent: javascript. */
export function description(runtime?: string): string;

/** What the model wrote, of what codemode has made of it for JavaScript. */
export function unwrap(code: string, runtime: string): string;
