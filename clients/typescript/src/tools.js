// SPDX-License-Identifier: MIT
// Tools: functions of this program that code can call, with their declarations.

import { ToolError } from './results.js';
import { isZod, readJsonSchema, readZod } from './schema.js';
import { decode, encode, objectOf, plainText } from './values.js';

/** Milliseconds as a message has them. */
export function milliseconds(time, name) {
  if (typeof time !== 'number' || !Number.isFinite(time) || time < 0) {
    throw new RangeError(`${name} is ${String(time)}, and must be a number of milliseconds from 0`);
  }
  return Math.ceil(time);
}

/** A number of things as a message has it. */
export function count(number, name) {
  if (!Number.isSafeInteger(number) || number < 0) {
    throw new RangeError(`${name} is ${String(number)}, and must be a whole number from 0`);
  }
  return number;
}

function isObject(value) {
  return typeof value === 'object' && value !== null;
}

/** A parameter as it is declared to the server: its texts and values in the forms of messages. */
function declare(declared) {
  const parameter = { ...declared };
  if (typeof parameter.description === 'string') {
    parameter.description = plainText(parameter.description);
  }
  if (parameter.default === undefined) delete parameter.default;
  for (const key of ['default', 'enum']) {
    if (Object.hasOwn(parameter, key)) parameter[key] = JSON.parse(encode(parameter[key]));
  }
  return parameter;
}

/** The declaration of a parameter that was read from a schema. */
function declareReading([name, { declared, isOptional, isNullable }]) {
  // For the server null is not a value of a type, but the same as missing where that is allowed.
  const isRestricted = Boolean(declared.type ?? declared.enum);
  const canBeMissing = isOptional || declared.default !== undefined || (isNullable && isRestricted);
  return declare({ name, ...declared, required: !canBeMissing });
}

/** A function that code can call. Made by `tool`. */
export class Tool {
  /** @param {import('./index.js').ToolOptions} options */
  constructor({ name, description = '', parameters = [], returns, execute, timeout, maxConcurrent,
    approve = false } = {}) {
    if (typeof name !== 'string' || !name || plainText(name) !== name) {
      throw new TypeError('a tool has a name, which is a text');
    }
    if (typeof execute !== 'function') {
      throw new TypeError(`tool '${name}' has no function execute`);
    }
    this.name = name;
    this.execute = execute;
    this._schema = null; // of zod, which checks the arguments
    this._readings = [];
    this.declaration = {
      name,
      description: plainText(String(description)),
      parameters: this._declare(parameters),
    };
    if (returns !== undefined) {
      if (!isObject(returns) || Array.isArray(returns) || isZod(returns)) {
        throw new TypeError(`'returns' of tool '${name}' must be a JSON Schema`);
      }
      this.declaration.returns = JSON.parse(JSON.stringify(returns));
    }
    if (timeout !== undefined) this.declaration.timeout_ms = milliseconds(timeout, 'timeout');
    if (maxConcurrent !== undefined) {
      this.declaration.max_concurrent = count(maxConcurrent, 'maxConcurrent');
    }
    if (typeof approve !== 'boolean') throw new TypeError('approve must be true or false');
    if (approve) this.declaration.approve = true;
  }

  _declare(parameters) {
    if (Array.isArray(parameters)) return parameters.map(declare);
    if (isObject(parameters) && isZod(parameters)) {
      this._schema = parameters;
      this._readings = readZod(parameters) ?? [];
      if (readZod(parameters)) return this._readings.map(declareReading);
    } else if (isObject(parameters) && (parameters.type === 'object' || parameters.properties ||
        parameters.$ref)) {
      this._readings = readJsonSchema(parameters);
      return this._readings.map(declareReading);
    }
    throw new TypeError(`the parameters of tool '${this.name}' must be a list of parameters, a ` +
      'JSON Schema of type "object", or an object of zod');
  }

  /** The arguments of a message, as the function gets them. */
  async _arguments(args) {
    const values = objectOf(Object.entries(args).map(([name, value]) => [name, decode(value)]));
    for (const [name, { isOptional, isNullable, adapt }] of this._readings) {
      if (!Object.hasOwn(values, name)) {
        if (isNullable && !isOptional) values[name] = null;
      } else if (adapt) {
        values[name] = adapt(values[name]);
      }
    }
    if (!this._schema) return values;
    try {
      // parseAsync does all that parse does, and waits for checks that are asynchronous.
      return await (this._schema.parseAsync ?? this._schema.parse).call(this._schema, values);
    } catch (error) {
      throw Array.isArray(error?.issues) ? new ToolError(issuesText(this.name, error.issues),
        { cause: error }) : error;
    }
  }

  /** Call the function with arguments from the server; gives what the function returns. */
  async call(args, context) {
    return this.execute(await this._arguments(args), context);
  }
}

function issuesText(name, issues) {
  const texts = issues.map(({ path, message }) =>
    (path?.length ? `${path.map(String).join('.')}: ${message}` : message));
  return `Tool '${name}': ${texts.join('; ')}`;
}

/** The message of what a tool has thrown, for the code. */
export function errorText(error) {
  let text;
  try {
    text = error instanceof ToolError && error.message ? error.message : String(error);
  } catch {
    text = 'the tool has failed'; // an object without a text
  }
  return plainText(text.slice(0, 100_000));
}

/**
 * Make a tool of a function.
 *
 * @param {import('./index.js').ToolOptions} options
 */
export function tool(options) {
  return new Tool(options);
}

/** Tools by name, of tools and of options that make them. */
export function makeTools(given) {
  const tools = new Map();
  if (!isObject(given) || typeof given[Symbol.iterator] !== 'function') {
    throw new TypeError('tools must be a list of tools');
  }
  for (const one of given) {
    const made = one instanceof Tool ? one : new Tool(one);
    if (tools.has(made.name)) throw new TypeError(`two tools have the name '${made.name}'`);
    tools.set(made.name, made);
  }
  return tools;
}
