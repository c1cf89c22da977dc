// SPDX-License-Identifier: MIT
// Run untrusted code in sandboxed sessions of lazaret, with JavaScript functions as its tools.

export { Artifact } from './files.js';
export {
  Blocked,
  Cancelled,
  ExecutionError,
  LazaretError,
  LimitExceeded,
  RequestFailed,
  Result,
  SetupFailed,
  SyntaxFailed,
  Timeout,
  ToolError,
  WorkerLost,
} from './results.js';
export { Server, defaultServer } from './server.js';
export { Pool, Session, execute } from './session.js';
export { Tool, tool } from './tools.js';
export { CalendarDate, Frame } from './values.js';
