// SPDX-License-Identifier: MIT
// An Executor for @cloudflare/codemode: code of a model runs in a session of lazaret, with the
// functions of its providers as tools. Nothing of that package is imported.
//
// Its own executors run JavaScript, and so its tools make an async arrow function of what the model
// has written. For another runtime that is undone here, so that a model can write Python, R or Lua.

import { LazaretError } from './results.js';
import { Session } from './session.js';

const ARGUMENT = 'arguments_object'; // no name that the arguments themselves have
const MAX_POSITIONAL = 8;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const TOOL = /^[A-Za-z0-9_.-]{1,100}$/;

/** What a model is told, with "{{types}}" where codemode puts the declarations of the tools. */
const EXAMPLES = {
  __proto__: null,
  python: ['Python', 'r = codemode.searchWeb({"query": "test"})', 'a dict'],
  r: ['R', 'r <- codemode.searchWeb(list(query = "test"))', 'a named list'],
  lua: ['Lua', 'local r = codemode.searchWeb({query = "test"}) return r', 'a table'],
};

/** The description for `createCodeTool`, where code is not JavaScript. */
export function description(runtime) {
  const [language, example, object] = EXAMPLES[runtime] ?? [runtime, '', 'an object'];
  return `Execute ${language} code to achieve a goal.\n\nAvailable functions, declared in ` +
    `TypeScript:\n{{types}}\n\nWrite plain ${language}, and no JavaScript. Each function takes ` +
    `${object} and gives its result directly: there is no await. The value of the last ` +
    `expression is the result; what is printed is shown, too.` +
    (example ? `\n\nExample: ${example}` : '');
}

// ---- the code -----------------------------------------------------------------------------------

/** Is `return (...)` of Lua what codemode has put around an expression, and not the model's own? */
function isAssignment(text) {
  return /^[A-Za-z_][\w.[\]"']*\s*=[^=]/.test(text);
}

/** The code as the model wrote it, of what codemode has made of it. */
export function unwrap(code, runtime) {
  const body = /^async \(\) => \{\n([\s\S]*)\n\}$/.exec(code)?.[1];
  if (runtime === 'javascript' || body === undefined) return code;
  // What could be JavaScript has a `return` before its last expression. In Python and R none can
  // stand outside of a function, where a line begins.
  const last = /(?:^|\n)return \(((?:(?!\nreturn \()[\s\S])*)\)$/.exec(body);
  if (!last || (runtime === 'lua' && !isAssignment(last[1]))) return body;
  return body.slice(0, last.index + (body[last.index] === '\n' ? 1 : 0)) + last[1];
}

// ---- the tools ----------------------------------------------------------------------------------

function providersOf(given) {
  if (Array.isArray(given)) return given;
  return [{ name: 'codemode', fns: given ?? {} }]; // as older versions call it
}

function checkProvider({ name, prelude }, seen) {
  if (!IDENTIFIER.test(name)) throw new TypeError(`'${name}' cannot be the name of a provider`);
  if (seen.has(name)) throw new TypeError(`there are two providers '${name}'`);
  if (prelude) throw new TypeError(`provider '${name}' has a prelude, which is JavaScript`);
  seen.add(name);
}

function toolOf(provider, name, fn) {
  if (!TOOL.test(name)) throw new TypeError(`'${name}' cannot be the name of a tool`);
  if (provider.positionalArgs) {
    const names = Array.from({ length: MAX_POSITIONAL }, (_, i) => `argument_${i + 1}`);
    return {
      name: `${provider.name}.${name}`,
      parameters: names.map((one) => ({ name: one, required: false })),
      execute: (args) => fn(...names.filter((one) => Object.hasOwn(args, one))
        .map((one) => args[one])),
    };
  }
  return {
    name: `${provider.name}.${name}`,
    parameters: [{ name: ARGUMENT, required: false }],
    execute: (args) => fn(args[ARGUMENT] ?? {}),
  };
}

/** Code of the runtime that makes `provider.name` of the names that a tool has there. */
const PRELUDES = {
  __proto__: null,
  python: (providers) => {
    const lines = providers.map(({ name, fns }) => {
      const members = Object.keys(fns).map((fn) =>
        `${JSON.stringify(fn)}: lazaret.tools[${JSON.stringify(`${name}.${fn}`)}]`);
      return `${name} = __import__('types').SimpleNamespace(**{${members.join(', ')}})`;
    });
    return ['import lazaret', ...lines, 'del lazaret'].join('\n');
  },
};

// ---- the executor -------------------------------------------------------------------------------

function logsOf(result) {
  return (result?.output ?? []).flatMap(({ stream, text }) => text.replace(/\n$/, '').split('\n')
    .map((line) => (stream === 'stderr' ? `[error] ${line}` : line)));
}

function textOf(error) {
  try {
    return error instanceof Error && error.message ? error.message : String(error);
  } catch {
    return 'the execution has failed';
  }
}

/** Runs code of a model for `createCodeTool`, each time in a fresh session. */
export class LazaretExecutor {
  /** @param {import('./codemode.js').LazaretExecutorOptions} options */
  constructor({ runtime, server, timeout, deadline } = {}) {
    if (typeof runtime !== 'string') {
      throw new TypeError('LazaretExecutor needs a runtime: "python", "r" or "lua"; there is ' +
        'none for JavaScript yet');
    }
    this._runtime = runtime;
    this._server = server;
    this._limits = { timeout, deadline };
  }

  /** Never throws. */
  async execute(code, providersOrFns, options = {}) {
    let session;
    try {
      if (options?.connectors?.length) throw new TypeError('connectors need a Worker');
      const providers = providersOf(providersOrFns);
      const seen = new Set();
      providers.forEach((provider) => checkProvider(provider, seen));
      const tools = providers.flatMap((provider) =>
        Object.entries(provider.fns).map(([name, fn]) => toolOf(provider, name, fn)));
      session = await Session.open({ runtime: this._runtime, tools, server: this._server });
      const prelude = tools.length ? PRELUDES[this._runtime]?.(providers) : undefined;
      if (prelude) await session.execute(prelude);
      const result = await session.execute(unwrap(code, this._runtime), this._limits);
      const logs = logsOf(result);
      return { result: result.value, ...(logs.length ? { logs } : {}) };
    } catch (error) {
      const logs = logsOf(error instanceof LazaretError ? error.result : null);
      return { result: undefined, error: textOf(error), ...(logs.length ? { logs } : {}) };
    } finally {
      await session?.close().catch(() => {});
    }
  }
}
