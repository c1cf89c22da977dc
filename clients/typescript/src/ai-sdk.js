// SPDX-License-Identifier: MIT
// A tool for the Vercel AI SDK that runs code of a model, and its tools as tools of a session.
//
// The package `ai` is imported when a function here is called, and no earlier.

import { framework } from './framework.js';
import { LazaretError, ToolError } from './results.js';
import { Session, execute } from './session.js';
import { makeTools } from './tools.js';

const MAX_IMAGES = 8; // that a model is shown of one execution
const MAX_TEXT = 30_000; // characters of output that a model is shown
const MAX_MEMBERS = 12; // of an object that a function returns
const MAX_DEPTH = 10; // of schemas inside of each other

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

async function toolOf(name, declared, asSchema, count) {
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
      { toolCallId: `lazaret-${++count.calls}`, messages: [], abortSignal: signal })),
  };
}

/**
 * Tools for a session, of those of the AI SDK that have a function `execute`. One with
 * `needsApproval` needs an approval here, too: see `approve` of a session.
 */
export async function aiTools(toolSet) {
  const { asSchema } = await sdk();
  const count = { calls: 0 };
  return Promise.all(Object.entries(toolSet)
    .filter(([, declared]) => typeof declared.execute === 'function')
    .map(([name, declared]) => toolOf(name, declared, asSchema, count)));
}

// ---- a tool of the SDK that runs code -----------------------------------------------------------

const LANGUAGES = { __proto__: null, python: 'Python', r: 'R', lua: 'Lua' };

/** The words for types that stand for all languages. */
const WORDS = { __proto__: null, string: 'str', number: 'float', integer: 'int', boolean: 'bool',
  array: 'list', object: 'object', null: 'null' };

/** A JSON Schema as a type that a model reads, as "{name: str, tags: [str]}". */
function typeOf(schema, depth = 0) {
  if (typeof schema !== 'object' || schema === null) return 'any';
  if (depth > 3) return '...';
  const { type, properties, items, required = [] } = schema;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (Array.isArray(choices)) {
    return [...new Set(choices.map((one) => typeOf(one, depth + 1)))].join(' | ');
  }
  if (properties) {
    const members = Object.entries(properties).slice(0, MAX_MEMBERS).map(([name, one]) =>
      `${name}${required.includes(name) ? '' : '?'}: ${typeOf(one, depth + 1)}`);
    return `{${members.join(', ')}}`;
  }
  if (items) return `[${typeOf(items, depth + 1)}]`;
  return [type].flat().map((one) => WORDS[one] ?? 'any').join(' | ');
}

function signatureOf({ name, description, parameters = [], returns }) {
  const words = parameters.map(({ name: key, type, required = true }) =>
    `${key}${required ? '' : '?'}${WORDS[type] ? `: ${WORDS[type]}` : ''}`);
  const result = typeof returns === 'string' ? returns : returns && typeOf(returns);
  return `${name}(${words.join(', ')})${result ? ` -> ${result}` : ''}` +
    `${description ? ` - ${description}` : ''}`;
}

function describe(runtime, tools, keepsState) {
  const language = LANGUAGES[runtime] ?? runtime;
  const code = language ? `${language} code` : 'code';
  const lines = [`Runs ${code} in a sandbox without network. The value of the last ` +
    'expression, what is printed, and figures are the result.',
  `${keepsState ? 'Variables last' : 'Nothing lasts'} from one call to the next.`];
  if (tools.length) {
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

/**
 * A tool for `generateText` and `streamText` that runs code: in the session that is given, whose
 * variables last, or each time in a fresh one.
 *
 * @param {import('./ai-sdk.js').CodeToolOptions} [options]
 */
export async function codeTool({ session, runtime = 'python', tools = [], server, approve,
  description, timeout, deadline } = {}) {
  const ai = await sdk();
  if (session && !(session instanceof Session)) throw new TypeError('session must be a Session');
  const made = [...makeTools(tools).values()];
  const shown = session ? await session.tools() : made.map(({ declaration }) => declaration);
  const picture = pictureOf(ai);
  return ai.tool({
    description: description ??
      describe(session ? session.runtime : runtime, shown, Boolean(session)),
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
          : execute(code, { runtime, tools: made, server, approve, ...limits })));
      } catch (error) {
        if (abortSignal?.aborted || !(error instanceof LazaretError) || !error.result) throw error;
        return outputOf(error.result, error);
      }
    },
    toModelOutput: ({ output }) => modelOutput(output, picture),
  });
}
