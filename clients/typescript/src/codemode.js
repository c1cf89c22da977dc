// SPDX-License-Identifier: MIT
// An Executor for @cloudflare/codemode: code of a model runs in a session of lazaret, with the
// functions of its providers as tools. Nothing of that package is imported.
//
// Its own executors run JavaScript, and so its tools make an async arrow function of what the model
// has written. For another runtime that is undone here, so that a model can write Python, R or Lua.

import { LazaretError, SyntaxFailed, ToolError } from './results.js';
import { Session } from './session.js';

const ARGUMENT = 'arguments_object'; // no name that the arguments themselves have
const MAX_POSITIONAL = 8;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NAMES = ['lazaret', 'tools', 'require', 'module', 'exports']; // and those of globalThis
const TOOL = /^[A-Za-z0-9_.-]{1,100}$/;

/** What a model is told, with "{{types}}" where codemode puts the declarations of the tools. */
const EXAMPLES = {
  __proto__: null,
  python: ['Python', 'r = codemode.searchWeb({"query": "test"})', 'a dict'],
  r: ['R', 'r <- codemode.searchWeb(list(query = "test"))', 'a named list'],
  lua: ['Lua', 'local r = codemode.searchWeb({query = "test"}) return r', 'a table'],
};

const OF_JAVASCRIPT = 'Execute code to achieve a goal.\n\nAvailable:\n{{types}}\n\n' +
  'Write one async arrow function in JavaScript or TypeScript that returns the result. Each ' +
  'function above takes one object and gives a promise; calls in Promise.all run side by side. ' +
  'What is printed with console.log is shown, too. There are console, timers, URL and the files ' +
  'of a sandbox, and no network.\n\n' +
  'Example: async () => { const r = await codemode.searchWeb({ query: "test" }); return r; }';

/** The description for `createCodeTool`, for code of this language. */
export function description(runtime = 'javascript') {
  if (runtime === 'javascript') return OF_JAVASCRIPT;
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

function checkProvider({ name, prelude }, seen, runtime) {
  const isJavaScript = runtime === 'javascript';
  if (!IDENTIFIER.test(name)) throw new TypeError(`'${name}' cannot be the name of a provider`);
  if (isJavaScript && (name in globalThis || NAMES.includes(name))) {
    throw new TypeError(`Provider name "${name}" is reserved`);
  }
  if (seen.has(name)) throw new TypeError(`there are two providers '${name}'`);
  if (prelude && !isJavaScript) throw new TypeError(`provider '${name}' has a prelude, which is JavaScript`);
  seen.add(name);
}

/** An error of a function reaches the code as its message alone, as in codemode. */
async function call(fn, ...args) {
  try {
    return await fn(...args);
  } catch (error) {
    throw new ToolError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** In JavaScript a function gets all that it is called with, as in codemode. */
function toolOf(provider, name, fn, runtime) {
  if (!TOOL.test(name)) throw new TypeError(`'${name}' cannot be the name of a tool`);
  if (provider.positionalArgs || runtime === 'javascript') {
    const names = Array.from({ length: MAX_POSITIONAL }, (_, i) => `argument_${i + 1}`);
    return {
      name: `${provider.name}.${name}`,
      parameters: names.map((one) => ({ name: one, required: false })),
      execute: (args) => call(fn, ...names.filter((one) => Object.hasOwn(args, one))
        .map((one) => args[one])),
    };
  }
  return {
    name: `${provider.name}.${name}`,
    parameters: [{ name: ARGUMENT, required: false }],
    execute: (args) => call(fn, args[ARGUMENT] ?? {}),
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
  // As in codemode: own members go first, and a line of the logs says of which kind it is.
  javascript: (providers) => `{
const { format } = require('node:util'), { log } = console;
console.warn = (...values) => log('[warn] ' + format(...values));
console.error = (...values) => log('[error] ' + format(...values));
for (const name of ${JSON.stringify(providers.map(({ name }) => name))})
  globalThis[name] = new Proxy({}, { get(own, key) {
    if (typeof key !== 'string' || Object.hasOwn(own, key) || key === 'then') return own[key];
    return lazaret.tools[name + '.' + key] ??
      (async () => { throw new Error(\`Tool "\${key}" not found\`); });
  } });
}
${providers.map(({ prelude }) => prelude ?? '').join('\n')}`,
};

const BLOCK = /^\s*```[a-z]*[ \t]*\n([^]*?)\n?```\s*$/;
const FUNCTION = /^\s*(?:async\s+)?(?:function\b|\(|[A-Za-z_$][\w$]*\s*=>)|^\s*async\s*\(/;

/** Code that is one function calls it; where it only looks like one, none of it has run. */
async function executeJavaScript(session, code, limits) {
  const inside = BLOCK.exec(code)?.[1] ?? code;
  if (FUNCTION.test(inside)) {
    try {
      return await session.execute(
        `await (async (f) => (typeof f === 'function' ? f() : f))(${inside}\n)`, limits);
    } catch (error) {
      if (!(error instanceof SyntaxFailed)) throw error;
    }
  }
  return session.execute(inside, limits);
}

// ---- the executor -------------------------------------------------------------------------------

function logsOf(result) {
  return (result?.output ?? []).flatMap(({ stream, text }) => text.replace(/\n$/, '').split('\n')
    .map((line) => (stream === 'stderr' ? `[error] ${line}` : line)));
}

/** Of an error in JavaScript its message, without its class. */
function textOf(error, runtime) {
  try {
    const text = error instanceof Error && error.message ? error.message : String(error);
    return runtime === 'javascript' && error instanceof LazaretError
      ? text.replace(/^[A-Z]\w*: (?=.)/, '') : text;
  } catch {
    return 'the execution has failed';
  }
}

/** Runs code of a model for `createCodeTool`, each time in a fresh session. */
export class LazaretExecutor {
  /** @param {import('./codemode.js').LazaretExecutorOptions} options */
  constructor({ runtime = 'javascript', server, timeout, deadline } = {}) {
    if (typeof runtime !== 'string') throw new TypeError('runtime must be the name of a language');
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
      providers.forEach((provider) => checkProvider(provider, seen, this._runtime));
      const tools = providers.flatMap((provider) =>
        Object.entries(provider.fns).map(([name, fn]) => toolOf(provider, name, fn, this._runtime)));
      session = await Session.open({ runtime: this._runtime, tools, server: this._server });
      const prelude = tools.length || this._runtime === 'javascript' ? PRELUDES[this._runtime]?.(providers) : undefined;
      if (prelude) await session.execute(prelude);
      const result = await (this._runtime === 'javascript'
        ? executeJavaScript(session, code, this._limits)
        : session.execute(unwrap(code, this._runtime), this._limits));
      const logs = logsOf(result);
      return { result: result.value, ...(logs.length ? { logs } : {}) };
    } catch (error) {
      const logs = logsOf(error instanceof LazaretError ? error.result : null);
      return { result: undefined, error: textOf(error, this._runtime), ...(logs.length ? { logs } : {}) };
    } finally {
      await session?.close().catch(() => {});
    }
  }
}
