// SPDX-License-Identifier: MIT
// A tool for the Vercel AI SDK that runs code of a model, and its tools as tools of a session.
//
// The package `ai` is imported when a function here is called, and no earlier.

import { LazaretError, ToolError } from './results.js';
import { Session, execute } from './session.js';

const MAX_IMAGES = 8; // that a model is shown of one execution
const MAX_TEXT = 30_000; // characters of output that a model is shown

async function sdk() {
  try {
    return await import('ai');
  } catch (error) {
    throw new Error('the AI SDK is missing: npm install ai', { cause: error });
  }
}

// ---- tools of the SDK as tools of a session -----------------------------------------------------

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
  return {
    name,
    description: typeof declared.description === 'string' ? declared.description : '',
    parameters: await schema.jsonSchema,
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

function signatureOf({ name, description, parameters }) {
  const list = Array.isArray(parameters) ? parameters
    : Object.entries(parameters?.properties ?? {}).map(([key, property]) => ({ name: key,
      type: property?.type, required: (parameters.required ?? []).includes(key) }));
  const words = list.map(({ name: key, type, required = true }) =>
    `${key}${required ? '' : '?'}${typeof type === 'string' ? `: ${type}` : ''}`);
  return `${name}(${words.join(', ')})${description ? ` - ${description}` : ''}`;
}

function describe(runtime, tools, keepsState) {
  const lines = [`Runs ${runtime} code in a sandbox without network. The value of the last ` +
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

/** What the model is shown of it. */
function modelOutput({ output }) {
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
    value: [{ type: 'text', text: text || '(no output)' },
      ...output.images.map((image) => ({ type: 'image-data', ...image }))],
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
  const { jsonSchema, tool } = await sdk();
  if (session && !(session instanceof Session)) throw new TypeError('session must be a Session');
  const shown = session ? await session.tools() : [...tools];
  return tool({
    description: description ?? describe(session ? 'program' : runtime, shown, Boolean(session)),
    inputSchema: jsonSchema({
      type: 'object',
      properties: { code: { type: 'string', description: 'the program' } },
      required: ['code'],
      additionalProperties: false,
    }),
    execute: async ({ code }, { abortSignal } = {}) => {
      const limits = { timeout, deadline, signal: abortSignal };
      try {
        return outputOf(await (session ? session.execute(code, limits)
          : execute(code, { runtime, tools, server, approve, ...limits })));
      } catch (error) {
        if (abortSignal?.aborted || !(error instanceof LazaretError) || !error.result) throw error;
        return outputOf(error.result, error);
      }
    },
    toModelOutput: modelOutput,
  });
}
