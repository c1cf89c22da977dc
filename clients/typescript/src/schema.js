// SPDX-License-Identifier: MIT
// JSON Schema and zod schemas as parameters of a tool.
//
// The server checks names, types and enumerations of the arguments; what is inside an array or an
// object is not its business. So a schema is read one level deep: each property becomes a
// parameter, and what cannot be said of it becomes "any value". zod (3, 4 and 4 mini) is never
// imported: the definitions in its schemas are read, and its own methods check the arguments.

/**
 * A property as it was read.
 *
 * @typedef {object} Reading
 * @property {Record<string, any>} declared `type`, `enum`, `default` and `description`
 * @property {boolean} isOptional can it be missing?
 * @property {boolean} isNullable can it be null?
 * @property {(value: any) => any} [adapt] makes the value that the schema expects
 */

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'];
const MAX_STEPS = 100; // of definitions that lead to others

function typeOfValue(value) {
  if (Array.isArray(value)) return 'array';
  return TYPES.includes(typeof value) ? typeof value : undefined;
}

/** The declaration of one of some values; of one type if all of them have it. */
function ofValues(values) {
  const kinds = new Set(values.map(typeOfValue));
  const [kind] = kinds;
  return kinds.size === 1 && kind ? { type: kind, enum: values } : { enum: values };
}

/** A list of values of which one may be null. */
function ofEnum(values) {
  const others = values.filter((value) => value !== null);
  const isNullable = others.length < values.length;
  return { declared: ofValues(others), isOptional: false, isNullable };
}

// ---- JSON Schema --------------------------------------------------------------------------------

/** Follow `$ref` to a definition of the same schema. */
function resolve(schema, root) {
  let found = schema;
  for (let i = 0; i < MAX_STEPS && typeof found?.$ref === 'string'; i++) {
    if (!found.$ref.startsWith('#')) return {};
    const { $ref, ...others } = found;
    const target = $ref.split('/').slice(1)
      .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce((at, part) => (at && Object.hasOwn(at, part) ? at[part] : undefined), root);
    found = { ...target, ...others };
  }
  return typeof found === 'object' && found !== null ? found : {};
}

/** @returns {Reading} */
function readProperty(schema, root) {
  const property = resolve(schema, root);
  const values = Object.hasOwn(property, 'const') ? [property.const] : property.enum;
  const choices = property.anyOf ?? property.oneOf;
  let reading = { declared: {}, isOptional: false, isNullable: true };
  if (Array.isArray(values)) {
    reading = ofEnum(values);
  } else if (property.type !== undefined) {
    const types = [property.type].flat();
    const others = types.filter((type) => type !== 'null');
    reading.declared = others.length === 1 && TYPES.includes(others[0]) ? { type: others[0] } : {};
    reading.isNullable = others.length < types.length;
    if (reading.declared.type === 'string' && property.format === 'path') {
      reading.declared.format = 'path';
    }
  } else if (Array.isArray(choices)) {
    const others = choices.map((choice) => resolve(choice, root))
      .filter((choice) => choice.type !== 'null');
    if (others.length === 1) {
      const inner = readProperty(others[0], root);
      reading = { ...inner, isNullable: inner.isNullable || choices.length > 1 };
    }
  }
  if (property.default !== undefined && property.default !== null) {
    reading.declared.default = property.default;
  }
  if (typeof property.description === 'string') reading.declared.description = property.description;
  return reading;
}

/** The properties of a JSON Schema of type "object". */
export function readJsonSchema(schema) {
  const root = resolve(schema, schema);
  const required = new Set(root.required ?? []);
  return Object.entries(root.properties ?? {}).map(([name, property]) => {
    const reading = readProperty(property, schema);
    return [name, { ...reading, isOptional: !required.has(name) }];
  });
}

// ---- zod ----------------------------------------------------------------------------------------

/** The definition of a zod schema, and its kind: the same words for zod 3 and 4. */
function definition(schema) {
  if (schema?._zod) return { def: schema._zod.def, kind: schema._zod.def.type };
  const def = schema?._def ?? {};
  return { def, kind: String(def.typeName ?? '').replace(/^Zod/, '').toLowerCase() };
}

/** Schemas that stand around another one, and where that is. */
const WRAPPERS = {
  __proto__: null,
  optional: (def) => def.innerType,
  nullable: (def) => def.innerType,
  default: (def) => def.innerType,
  prefault: (def) => def.innerType,
  nonoptional: (def) => def.innerType,
  exactoptional: (def) => def.innerType,
  readonly: (def) => def.innerType,
  catch: (def) => def.innerType,
  branded: (def) => def.type,
  effects: (def) => (def.effect?.type === 'preprocess' ? null : def.schema),
  pipe: (def) => def.in,
  pipeline: (def) => def.in,
  lazy: (def) => def.getter(),
};
const CHANGES = ['effects', 'pipe', 'pipeline', 'catch']; // their defaults are not input

function isInteger(schema, def) {
  return schema.isInt === true || def.format === 'safeint' ||
    (def.checks ?? []).some((check) => check.kind === 'int' ||
      /int/.test(check._zod?.def.format ?? ''));
}

function enumValues(object) {
  // An enum of TypeScript has its numbers as keys, too.
  return Object.entries(object).filter(([key]) => typeof object[object[key]] !== 'number' ||
    String(object[object[key]]) !== key).map(([, value]) => value);
}

/** Kinds of schemas that say something about the type of a value. */
const KINDS = {
  __proto__: null,
  string: () => ({ type: 'string' }),
  number: (def, schema) => ({ type: isInteger(schema, def) ? 'integer' : 'number' }),
  bigint: () => ({ type: 'integer' }),
  boolean: () => ({ type: 'boolean' }),
  array: () => ({ type: 'array' }),
  tuple: () => ({ type: 'array' }),
  set: () => ({ type: 'array' }),
  object: () => ({ type: 'object' }),
  record: () => ({ type: 'object' }),
  discriminatedunion: () => ({ type: 'object' }),
  enum: (def) => ofValues(def.values ?? enumValues(def.entries)),
  nativeenum: (def) => ofValues(enumValues(def.values)),
  literal: (def) => ofValues(def.values ?? [def.value]),
};
const ADAPTERS = {
  __proto__: null,
  bigint: (value) => (Number.isSafeInteger(value) ? BigInt(value) : value),
  set: (value) => (Array.isArray(value) ? new Set(value) : value),
};
const NULLS = ['any', 'unknown', 'null', 'undefined', 'void', 'custom', 'transform', 'json'];

/** What the alternatives of a union have in common. */
function ofAlternatives(readings) {
  const all = readings.map(({ declared }) => declared);
  if (all.every((declared) => declared.enum)) {
    return ofValues(all.flatMap((declared) => declared.enum));
  }
  const [type] = all.map((declared) => declared.type);
  const isSame = all.every((declared) => declared.type === type);
  return type && isSame && !readings.some(({ adapt }) => adapt) ? { type } : {};
}

function readUnion(def) {
  const readings = def.options.map(readZodProperty);
  const others = readings.filter(({ kind }) => kind !== 'null' && kind !== 'undefined');
  return {
    declared: others.length === 1 ? others[0].declared : ofAlternatives(others),
    adapt: others.length === 1 ? others[0].adapt : undefined,
    isNullable: readings.some((reading) => reading.isNullable),
    isOptional: readings.some((reading) => reading.isOptional || reading.kind === 'undefined'),
  };
}

function readBase(schema) {
  const { def, kind } = definition(schema);
  if (kind === 'union') return { kind, ...readUnion(def) };
  const declared = def.coerce ? {} : KINDS[kind]?.(def, schema) ?? {};
  const isLiteralNull = declared.enum?.some((value) => value === null || value === undefined);
  return {
    kind,
    declared: isLiteralNull || declared.enum?.some((value) => typeof value === 'bigint')
      ? {} : declared,
    adapt: ADAPTERS[kind],
    isNullable: isLiteralNull || NULLS.includes(kind),
    isOptional: NULLS.includes(kind) && kind !== 'null',
  };
}

/** @returns {Reading & { kind: string }} */
function readZodProperty(property) {
  let schema = property;
  let defaultValue;
  let description;
  const seen = [];
  for (let i = 0; i < MAX_STEPS; i++) {
    const { def, kind } = definition(schema);
    description ??= schema?.description;
    if (!WRAPPERS[kind]) break;
    if ((kind === 'default' || kind === 'prefault') && defaultValue === undefined) {
      defaultValue = typeof def.defaultValue === 'function' ? def.defaultValue() : def.defaultValue;
    }
    seen.push(kind);
    schema = WRAPPERS[kind](def);
  }
  const base = readBase(schema);
  const declared = { ...base.declared };
  const hasPlainDefault = !seen.some((kind) => CHANGES.includes(kind)) && declared.type &&
    ['string', 'number', 'boolean'].includes(typeof defaultValue);
  if (hasPlainDefault) declared.default = defaultValue;
  if (typeof description === 'string') declared.description = description;
  return {
    ...base,
    declared,
    isNullable: base.isNullable || seen.includes('nullable') || schema === null,
    isOptional: (base.isOptional && !seen.includes('nonoptional')) || schema === null ||
      ['optional', 'exactoptional', 'default', 'prefault', 'catch']
        .some((kind) => seen.includes(kind)),
  };
}

export function isZod(schema) {
  return Boolean(schema._zod ?? schema._def?.typeName);
}

/** The members of a zod object, or undefined if the schema is something else. */
export function readZod(schema) {
  let object = schema;
  for (let i = 0; i < MAX_STEPS; i++) {
    const { def, kind } = definition(object);
    if (kind === 'object') {
      const shape = typeof def.shape === 'function' ? def.shape() : def.shape;
      return Object.entries(shape).map(([name, member]) => [name, readZodProperty(member)]);
    }
    if (!WRAPPERS[kind]) return undefined;
    object = WRAPPERS[kind](def);
  }
  return undefined;
}
