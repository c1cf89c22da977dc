// tools.js - the host's tools as functions that give promises.
const { apply } = Reflect;
const { create, defineProperty, getPrototypeOf, keys: keysOf } = Object;
const ObjectPrototype = Object.prototype;
const { isArray } = Array, { isInteger } = Number;
const { get, set, delete: remove, has, clear, forEach } = Map.prototype;
const { push, shift, join, includes } = Array.prototype;
const values = internal('values');
const isPromise = (value) => value instanceof PromiseOf;
const PromiseOf = Promise, ErrorOf = Error, stringify = JSON.stringify;

class ToolError extends Error {
    constructor(message, tool) {
        super(message);
        defineProperty(this, 'tool', { __proto__: null, value: tool, writable: true, configurable: true, enumerable: false });
    }
}
defineProperty(ToolError.prototype, 'name', { value: 'ToolError', writable: true, configurable: true, enumerable: false });

const tools = create(null);
const named = new Map(); // by the global name
const open = new Map(), waiting = [];
let lastId = 0, inDialect = false;

exports.tools = tools;
exports.lazaret = { ToolError, rows: values.rows, tools };
exports.isTool = (name) => apply(has, named, [name]);
exports.refusal = (name) => `'${name}' is a tool of the host and cannot be replaced`;

// ---- arguments -------------------------------------------------------------------------------------

function typeOf(value) {
    return value === null ? 'null' : isArray(value) ? 'array' : typeof value;
}

const checks = {
    __proto__: null,
    string: (v) => typeof v === 'string',
    number: (v) => typeof v === 'number' || typeof v === 'bigint',
    integer: (v) => typeof v === 'bigint' || (typeof v === 'number' && isInteger(v)),
    boolean: (v) => typeof v === 'boolean',
    array: (v) => typeof v === 'object' && v !== null &&
        (isArray(v) || v instanceof Set || (ArrayBuffer.isView(v) && !(v instanceof DataView))),
    object: (v) => typeof v === 'object' && v !== null && !isArray(v),
};

function parameterOf(tool, name) {
    const { parameters } = tool;
    for (let i = 0; i < parameters.length; i++)
        if (parameters[i].spelling === name || parameters[i].name === name)
            return parameters[i];
}

function isPlain(value) {
    if (typeof value !== 'object' || value === null || isArray(value))
        return false;
    const prototype = getPrototypeOf(value);
    return prototype === null || prototype === ObjectPrototype;
}

// Is the one argument the object of all arguments by name? Yes, unless the first parameter could be
// that object itself; then only when all keys are names of parameters and the first is among them.
// In a dialect there is no other form.
function areNamed(tool, args) {
    if (inDialect) {
        if (args.length > 1 || (args.length && !isPlain(args[0])))
            throw new TypeError(`Tool '${tool.name}' takes one object of named arguments`);
        return args.length === 1;
    }
    if (args.length !== 1 || !isPlain(args[0]))
        return false;
    const first = tool.parameters[0];
    if (!first)
        return true;
    if (first.type !== '' && first.type !== 'object')
        return true;
    const names = keysOf(args[0]);
    let hasFirst = false;
    for (let i = 0; i < names.length; i++) {
        const p = parameterOf(tool, names[i]);
        if (!p)
            return false;
        hasFirst = hasFirst || p === first;
    }
    return hasFirst;
}

// By the number of the parameter, in an object without a prototype, whose indexes might have setters.
function positions(tool, args) {
    const given = { __proto__: null };
    if (areNamed(tool, args)) {
        const names = keysOf(args[0]);
        let unexpected = '';
        for (let i = 0; i < names.length; i++) {
            const p = parameterOf(tool, names[i]);
            if (p)
                given[p.index] = args[0][names[i]];
            else
                unexpected += `${unexpected && ', '}'${names[i]}'`;
        }
        if (unexpected)
            throw new TypeError(`Unexpected arguments for tool '${tool.name}': ${unexpected}`);
        return given;
    }
    if (args.length > tool.parameters.length)
        throw new TypeError(`Tool '${tool.name}' takes ${tool.parameters.length} argument` +
            `${tool.parameters.length === 1 ? '' : 's'}, got ${args.length}` +
            (args.length === 3 && isArray(args[2]) && args[2][args[1]] === args[0]
                ? ` (of map(): write (item) => ${tool.spelling}(item))` : ''));
    for (let i = 0; i < args.length; i++)
        given[i] = args[i];
    return given;
}

function argumentsOf(tool, args) {
    const given = positions(tool, args);
    let text = '{';
    for (let i = 0; i < tool.parameters.length; i++) {
        const p = tool.parameters[i], value = given[i];
        if (value === undefined || (value === null && !p.required)) {
            if (p.required)
                throw new TypeError(`${p.where} is missing`);
            continue;
        }
        if (p.type !== '' && checks[p.type] && !checks[p.type](value))
            throw new TypeError(`${p.where} must be ${p.typeName}, got ${typeOf(value)}`);
        text += (text === '{' ? '' : ',') + p.key +
            values.writeArgument(value, p.where);
    }
    return text + '}';
}

// ---- calls -----------------------------------------------------------------------------------------

// The stack is that of the code which called.
function failed(call, message) {
    const error = new ToolError(message, call.tool);
    defineProperty(error, 'stack', { __proto__: null, value: call.from.stack, writable: true, configurable: true, enumerable: false });
    return error;
}

function send(call) {
    const id = ++lastId;
    const refused = native.begin(id, call.tool, call.args);
    if (refused === false)
        return false;
    if (refused !== undefined)
        call.reject(failed(call, refused));
    else
        apply(set, open, [id, call]);
    return true;
}

// A promise among the arguments stands for its value, so that calls can be put into each other.
function hasPromise(values) {
    const names = keysOf(values);
    for (let i = 0; i < names.length; i++)
        if (isPromise(values[names[i]]))
            return true;
    return false;
}

async function settled(values) {
    const names = keysOf(values), given = { __proto__: null };
    for (let i = 0; i < names.length; i++)
        given[names[i]] = isPromise(values[names[i]]) ? await values[names[i]] : values[names[i]];
    return given;
}

const isOneObject = (args) => args.length === 1 && isPlain(args[0]);

async function resolved(args) {
    if (isOneObject(args))
        return { __proto__: null, 0: await settled(args[0]), length: 1 };
    const given = await settled(args);
    given.length = args.length;
    return given;
}

function begin(tool, args, from, resolve, reject) {
    const call = { tool: tool.name, spelling: tool.spelling, args: argumentsOf(tool, args), resolve, reject, from };
    if (waiting.length || !send(call))
        apply(push, waiting, [call]);
}

async function beginLater(tool, args, from, resolve, reject) {
    try {
        begin(tool, await resolved(args), from, resolve, reject);
    } catch (error) {
        reject(error);
    }
}

exports.settle = function (id, ok, text) {
    const call = apply(get, open, [id]);
    if (!call)
        return true;
    apply(remove, open, [id]);
    while (waiting.length && send(waiting[0]))
        apply(shift, waiting, []);
    if (ok)
        call.resolve(values.read(text));
    else
        call.reject(failed(call, text));
    return true;
};

// The execution has ended: nobody waits for what is under way.
exports.abandon = function () {
    apply(clear, open, []);
    waiting.length = 0;
    return true;
};

// ---- a name that is not there ----------------------------------------------------------------------

function letters(name) {
    return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

// "; is an await missing? weekday has not answered yet" where a value is used as what it is not.
function unanswered(message) {
    const names = [];
    if (/ is not (a function|an object|iterable|a constructor)/.test(message))
        apply(forEach, open, [({ spelling }) => { apply(includes, names, [spelling]) || apply(push, names, [spelling]); }]);
    return names.length === 0 ? ''
        : `; is an await missing? ${apply(join, names, [', '])} ${names.length > 1 ? 'have' : 'has'} not answered yet`;
}

// "; here it is get_user" where a message of the engine misses a name that is much like that of a tool; of a module,
// how it is had.
exports.meant = function (message) {
    const missed = /^Can't find variable: (.+)$|^(?:codemode|tools)\.([^ ]+) is not a function/.exec(message);
    if (!missed)
        return unanswered(message);
    const name = letters(missed[1] ?? missed[2]), alike = [];
    for (const spelling of keysOf(tools))
        if (name !== '' && letters(spelling) === name)
            apply(push, alike, [missed[1] ? spelling : `tools.${spelling}`]);
    if (alike.length)
        return `; here it is ${apply(join, alike, [' or '])}`;
    return missed[1] && internal('modules').isBuiltin(missed[1]) ? `; const ${missed[1]} = require('${missed[1]}')` : '';
};

// ---- definitions -----------------------------------------------------------------------------------

function functionOf(tool) {
    const f = function (...args) {
        const from = new ErrorOf();
        return new PromiseOf((resolve, reject) => {
            const waits = hasPromise(isOneObject(args) ? args[0] : args);
            (waits ? beginLater : begin)(tool, args, from, resolve, reject);
        });
    };
    defineProperty(f, 'name', { value: tool.spelling });
    defineProperty(f, 'length', { value: tool.parameters.filter((p) => p.required).length });
    if (tool.description)
        defineProperty(f, 'description', { value: tool.description });
    return f;
}

exports.define = function (text) {
    inDialect = native.dialect() !== '';
    for (const tool of JSON.parse(text)) {
        tool.parameters.forEach((p, i) => {
            p.index = i;
            p.key = stringify(p.name) + ':';
            p.where = `Tool '${tool.name}': argument '${p.name}'`;
        });
        const value = functionOf(tool);
        tools[tool.spelling] = value;
        if (tool.name !== tool.spelling)
            defineProperty(tools, tool.name, { value, enumerable: false });
        apply(set, named, [tool.spelling, tool]);
        defineProperty(globalThis, tool.spelling, {
            get: () => value,
            set() { throw new TypeError(exports.refusal(tool.spelling)); },
            enumerable: false, configurable: false,
        });
    }
    return true;
};
