// SPDX-License-Identifier: MIT
// A tool for the Vercel AI SDK that runs code of a model, and its tools as tools of a session.
//
// The package `ai` is imported when a function here is called, and no earlier.

import { framework } from './framework.js';
import { LazaretError, RequestFailed, ToolError } from './results.js';
import { Session, execute } from './session.js';
import { makeTools } from './tools.js';

const MAX_IMAGES = 8; // that a model is shown of one execution
const MAX_TEXT = 30_000; // characters of output that a model is shown
const MAX_MEMBERS = 12; // of an object that a function returns
const MAX_DEPTH = 10; // of schemas inside of each other
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const ARGUMENT = 'arguments_object'; // no name that the arguments themselves have

const sdk = () => framework('ai', 'the AI SDK');

// ---- tools of the SDK as tools of a session -----------------------------------------------------

/** What a schema says by a keyword that the server reads; undefined: nothing. */
function readKeyword(name, value, depth) {
  if (name === 'type') return [value].flat().every((one) => WORDS[one]) ? value : undefined;
  if (name === 'items' || name === 'additionalProperties') {
    return typeof value === 'boolean' ? value : readSchema(value, depth + 1);
  }
  if (name === 'anyOf' || name === 'oneOf' || name === 'allOf') {
    return Array.isArray(value) ? value.map((one) => readSchema(one, depth + 1)) : undefined;
  }
  if (['properties', '$defs', 'definitions'].includes(name) && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value ?? {})
      .map(([key, one]) => [key, readSchema(one, depth + 1)]));
  }
  if (name === 'enum' || name === 'required') return Array.isArray(value) ? value : undefined;
  return name === '$ref' && typeof value === 'string' ? value : undefined;
}

/** A schema with what the server reads of it alone, because it refuses what is none. */
function readSchema(schema, depth = 0) {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return {};
  return Object.fromEntries(Object.entries(schema)
    .map(([name, value]) => [name, readKeyword(name, value, depth)])
    .filter(([, value]) => value !== undefined));
}

/** The last of what a tool gives piece by piece. */
async function lastOf(given) {
  const value = await given;
  if (typeof value?.[Symbol.asyncIterator] !== 'function') return value;
  let last;
  for await (const one of value) last = one;
  return last;
}

async function checked(name, schema, args) {
  const checking = await schema.validate?.(args);
  if (!checking || checking.success) return checking ? checking.value : args;
  throw new ToolError(`Tool '${name}': ${checking.error?.message ?? 'wrong arguments'}`);
}

async function toolOf(name, declared, asSchema, count, outer) {
  const schema = asSchema(declared.inputSchema);
  const returns = declared.outputSchema && readSchema(
    await asSchema(declared.outputSchema).jsonSchema);
  return {
    name,
    description: typeof declared.description === 'string' ? declared.description : '',
    parameters: await schema.jsonSchema,
    ...(returns && Object.keys(returns).length ? { returns } : {}),
    approve: Boolean(declared.needsApproval),
    execute: async (args, { signal }) => lastOf(declared.execute(await checked(name, schema, args),
      { messages: [], ...outer, toolCallId: `lazaret-${++count.calls}`, abortSignal: signal })),
  };
}

/** `outer`: what tools are told of the call that has run the code. */
async function toolsOf(toolSet, outer) {
  const { asSchema } = await sdk();
  const count = { calls: 0 };
  return Promise.all(Object.entries(toolSet)
    .filter(([, declared]) => typeof declared.execute === 'function')
    .map(([name, declared]) => toolOf(name, declared, asSchema, count, outer)));
}

/**
 * Tools for a session, of those of the AI SDK that have a function `execute`. One with
 * `needsApproval` needs an approval here, too: see `approve` of a session.
 */
export const aiTools = (toolSet) => toolsOf(toolSet, {});

// ---- a tool of the SDK that runs code -----------------------------------------------------------

const LANGUAGES = { __proto__: null, python: 'Python', r: 'R', lua: 'Lua',
  javascript: 'JavaScript or TypeScript' };

/** The words for types: those of the server's JSON Schemas, and which stand for all languages. */
const WORDS = { __proto__: null, string: 'str', number: 'float', integer: 'int', boolean: 'bool',
  array: 'list', object: 'object', null: 'null' };

/** How types are written: for all languages, as "{name: str, tags: [str]}", and in TypeScript. */
const SHARED = { words: WORDS, list: (one) => `[${one}]`, between: ', ' };
const TYPESCRIPT = { words: { __proto__: null, string: 'string', number: 'number',
  integer: 'number', boolean: 'boolean', array: 'any[]', object: 'Record<string, any>',
  null: 'null' }, list: (one) => `Array<${one}>`, between: '; ' };
const spelled = (name) => (IDENTIFIER.test(name) ? name : JSON.stringify(name));

/** A JSON Schema as a type that a model reads. */
function typeOf(schema, style = SHARED, depth = 0) {
  if (typeof schema !== 'object' || schema === null) return 'any';
  if (depth > 3) return style === SHARED ? '...' : 'any';
  const { type, properties, items, required = [] } = schema;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (Array.isArray(choices)) {
    return [...new Set(choices.map((one) => typeOf(one, style, depth + 1)))].join(' | ');
  }
  if (properties) {
    const members = Object.entries(properties).slice(0, MAX_MEMBERS).map(([name, one]) =>
      `${style === SHARED ? name : spelled(name)}${required.includes(name) ? '' : '?'}: ` +
      typeOf(one, style, depth + 1));
    return `{${members.join(style.between)}}`;
  }
  if (items) return style.list(typeOf(items, style, depth + 1));
  return [type].flat().map((one) => style.words[one] ?? 'any').join(' | ');
}

function signatureOf({ name, description, parameters = [], returns }) {
  const words = parameters.map(({ name: key, type, required = true }) =>
    `${key}${required ? '' : '?'}${WORDS[type] ? `: ${WORDS[type]}` : ''}`);
  const result = typeof returns === 'string' ? returns : returns && typeOf(returns);
  return `${name}(${words.join(', ')})${result ? ` -> ${result}` : ''}` +
    `${description ? ` - ${description}` : ''}`;
}

/** The same as a declaration of TypeScript. */
function declarationOf({ name, description, parameters = [], returns }) {
  const words = parameters.map(({ name: key, type, required = true, enum: values }) =>
    `${spelled(key)}${required ? '' : '?'}: ${typeOf({ type, enum: values }, TYPESCRIPT)}`);
  const result = typeof returns === 'object' && returns ? typeOf(returns, TYPESCRIPT) : 'any';
  const called = IDENTIFIER.test(name) ? [`declare function ${name}(`, ')']
    : [`tools[${JSON.stringify(name)}]: (`, ') =>'];
  return `${called[0]}${words.join(', ')}${called[1]}${called[1] === ')' ? ':' : ''} ` +
    `Promise<${result}>;${description ? ` // ${description}` : ''}`;
}

function describe(runtime, tools, keepsState) {
  const language = LANGUAGES[runtime] ?? runtime;
  const code = language ? `${language} code` : 'code';
  const lines = [`Runs ${code} in a sandbox without network. The value of the last ` +
    'expression, what is printed, and figures are the result.',
  `${keepsState ? 'Variables last' : 'Nothing lasts'} from one call to the next.`];
  if (tools.length && runtime === 'javascript') {
    lines.push('The code can call these functions. Each gives a promise: await it, at the top ' +
      'level too; calls in Promise.all run side by side. Arguments are given in this order, or by ' +
      'name in one object.', ...tools.map(declarationOf));
  } else if (tools.length) {
    lines.push('The code can call these functions:', ...tools.map(signatureOf));
  }
  return lines.join('\n');
}

function shortened(text) {
  if (text.length <= MAX_TEXT) return text;
  const half = MAX_TEXT / 2;
  return `${text.slice(0, half)}\n[... ${text.length - MAX_TEXT} characters are left out ...]\n` +
    text.slice(-half);
}

/** What the tool gives: plain data, which can be kept with the messages. */
function outputOf(result, error) {
  const images = result.artifacts.filter(({ type, data }) => data && type.startsWith('image/'));
  return {
    verdict: result.verdict,
    ...(error ? { error: error.message, traceback: error.traceback } : {}),
    text: result.text,
    stdout: result.stdout,
    stderr: result.stderr,
    artifacts: result.artifacts.map(({ name, type, size }) => ({ name, type, size })),
    ...(result.artifactsLost.length ? { artifactsLost: result.artifactsLost } : {}),
    images: images.slice(0, MAX_IMAGES)
      .map(({ type, data }) => ({ mediaType: type, data: Buffer.from(data).toString('base64') })),
  };
}

/** Parts of a message that are a picture: of this version of the SDK, and of older ones. */
const PICTURES = [
  ({ mediaType, data }) => ({ type: 'file', mediaType, data: { type: 'data', data } }),
  ({ mediaType, data }) => ({ type: 'image-data', mediaType, data }),
  ({ mediaType, data }) => ({ type: 'media', mediaType, data }),
];

/** The first of them that the SDK takes for one. */
function pictureOf({ toolModelMessageSchema: messages }) {
  return PICTURES.find((make) => messages.safeParse({ role: 'tool', content: [{
    type: 'tool-result', toolCallId: '1', toolName: 'run',
    output: { type: 'content', value: [make({ mediaType: 'image/png', data: '' })] },
  }] }).success) ?? PICTURES[0];
}

/** What the model is shown of it. */
function modelOutput(output, picture) {
  const parts = [output.stdout, output.stderr, output.text];
  if (output.error) {
    parts.push(`${output.verdict}: ${output.error}`, ...output.traceback ?? []);
  }
  const files = output.artifacts.map(({ name, type, size }) => `${name} (${type}, ${size} bytes)`);
  if (files.length) parts.push(`Files: ${files.join(', ')}`);
  const lost = output.artifactsLost ?? [];
  parts.push(...lost.map(({ name, why }) => `The file ${name} is lost: ${why}`));
  const text = shortened(parts.filter(Boolean).map((part) => part.replace(/\n$/, '')).join('\n'));
  if (!output.images.length) {
    return { type: output.error ? 'error-text' : 'text', value: text || '(no output)' };
  }
  return {
    type: 'content',
    value: [{ type: 'text', text: text || '(no output)' }, ...output.images.map(picture)],
  };
}

/** The language of code that names none: JavaScript where it is installed, or else Python. */
async function usualRuntime(server) {
  try {
    await (await Session.open({ runtime: 'javascript', server, warm: false })).close();
    return 'javascript';
  } catch (error) {
    if (error instanceof RequestFailed) return 'python';
    throw error;
  }
}

/**
 * A tool for `generateText` and `streamText` that runs code: in the session that is given, whose
 * variables last, or each time in a fresh one.
 *
 * @param {import('./ai-sdk.js').CodeToolOptions} [options]
 */
export async function codeTool({ session, runtime, tools = [], server, approve, description,
  timeout, deadline } = {}) {
  const ai = await sdk();
  if (session && !(session instanceof Session)) throw new TypeError('session must be a Session');
  const language = session ? session.runtime : runtime ?? await usualRuntime(server);
  const made = [...makeTools(tools).values()];
  const shown = session ? await session.tools() : made.map(({ declaration }) => declaration);
  const picture = pictureOf(ai);
  return ai.tool({
    description: description ??
      describe(language, shown, Boolean(session)),
    inputSchema: ai.jsonSchema({
      type: 'object',
      properties: { code: { type: 'string', description: 'the program' } },
      required: ['code'],
      additionalProperties: false,
    }),
    execute: async ({ code }, { abortSignal } = {}) => {
      const limits = { timeout, deadline, signal: abortSignal };
      try {
        return outputOf(await (session ? session.execute(code, limits)
          : execute(code, { runtime: language, tools: made, server, approve, ...limits })));
      } catch (error) {
        if (abortSignal?.aborted || !(error instanceof LazaretError) || !error.result) throw error;
        return outputOf(error.result, error);
      }
    },
    toModelOutput: ({ output }) => modelOutput(output, picture),
  });
}

// ---- code mode of the SDK -----------------------------------------------------------------------

/** What the schema of a tool is, where it is there without waiting. */
function schemaOf(given, asSchema) {
  const schema = given && asSchema(given).jsonSchema;
  return schema && typeof schema.then !== 'function' ? schema : undefined;
}

function describeCodeMode(toolSet, asSchema) {
  const lines = ['Runs JavaScript or TypeScript in a sandbox without network. `js` is the whole ' +
    'program; await and return work at its top level, and what it returns, as JSON, is the result.'];
  const members = Object.entries(toolSet).map(([name, { description, inputSchema, outputSchema }]) =>
    `${description ? `  /** ${description.replaceAll('*/', '* /')} */\n` : ''}  ${spelled(name)}: ` +
    `(input: ${typeOf(schemaOf(inputSchema, asSchema), TYPESCRIPT)}) => ` +
    `Promise<${typeOf(schemaOf(outputSchema, asSchema), TYPESCRIPT)}>;`);
  if (members.length) {
    lines.push('Await each call of a tool, or several in Promise.all, which run side by side:',
      'declare const tools: {', ...members, '};');
  }
  return lines.join('\n');
}

/** A value as JSON has it: a date is a text, and what is no number null. */
const plain = (value) => (value === undefined ? value : JSON.parse(JSON.stringify(value)));

/** All that a tool is given is one object, whatever its parameters are. */
function withOneObject(made) {
  return { ...made, parameters: [{ name: ARGUMENT, required: false }],
    execute: async (args, context) => plain(await made.execute(args[ARGUMENT] ?? {}, context)) };
}

function codeModeOf(ai, toolSet, options) {
  return ai.tool({
    description: describeCodeMode(toolSet, ai.asSchema),
    inputSchema: ai.jsonSchema({
      type: 'object',
      properties: { js: { type: 'string', description: 'the program' } },
      required: ['js'],
      additionalProperties: false,
    }),
    execute: async ({ js }, { abortSignal, ...outer } = {}) => {
      const tools = (await toolsOf(toolSet, outer)).map(withOneObject);
      const result = await execute(js,
        { ...options, runtime: 'javascript', tools, signal: abortSignal });
      return result.text === null ? undefined : plain(result.value);
    },
  });
}

/**
 * In the place of `experimental_codeModeTool` of @ai-sdk/code-mode: which tools the code calls is
 * said by `experimental_toolCallers`. Each call has a fresh session.
 *
 * @param {import('./ai-sdk.js').CodeModeOptions} [options]
 */
export async function codeModeTool({ server, approve, timeout, deadline } = {}) {
  const ai = await sdk();
  if (!ai.experimental_toolCaller) throw new Error('code mode needs version 7 of the package ai');
  const made = (toolSet) => codeModeOf(ai, toolSet, { server, approve, timeout, deadline });
  return ai.experimental_toolCaller(made({}), { type: 'local', bind: made });
}
