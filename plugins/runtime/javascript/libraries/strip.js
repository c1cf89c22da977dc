// SPDX-License-Identifier: MIT
// strip.js - TypeScript without its types. scripts/javascript-libraries puts it behind the modules of sucrase that it
// needs, `files`: a table of functions of (exports, require). Together they are sucrase.js, a part.
//
// exports.strip(source, {fileName, keepImports}) gives JavaScript with the same lines. With keepImports, names that are
// imported and not used stay, for the next execution of a session; without, they are taken for types. A SyntaxError
// has line, column and sourceURL, as those of the engine have, and isRefused where the syntax is right. What sucrase would drop or leave, and which is more than a
// type, is refused here: namespaces, decorators.
const loaded = {__proto__: null, Options: {validateOptions() {}}};

function resolve(from, name) {
  const parts = from.split('/').slice(0, -1);
  for (const part of name.split('/')) {
    if (part === '..')
      parts.pop();
    else if (part !== '.')
      parts.push(part);
  }
  const path = parts.join('/');
  return files[`${path}/index`] ? `${path}/index` : path;
}

// A module that is not in the table has no exports: it belongs to a transform that is not asked for.
function load(path) {
  if (!loaded[path]) {
    const its = loaded[path] = {};
    if (files[path])
      files[path](its, (name) => load(resolve(path, name)));
  }
  return loaded[path];
}

const parser = load('parser/index');
const {ContextualKeyword} = load('parser/tokenizer/keywords');
const {TokenType} = load('parser/tokenizer/types');
const {parse} = parser;
const {transform} = load('index');

function refuse(source, at, message) {
  const before = source.slice(0, at).split('\n');
  const error = new SyntaxError(message);
  error.loc = {line: before.length, column: before[before.length - 1].length + 1};
  error.isRefused = true;
  throw error;
}

// The index of the brace that closes the first one after `index`.
function closing(tokens, index) {
  let depth = 0;
  for (let i = index; i < tokens.length; i++) {
    if (tokens[i].type === TokenType.braceL)
      depth++;
    else if (tokens[i].type === TokenType.braceR && --depth <= 0)
      return i;
  }
  return tokens.length;
}

function beginsNamespace(tokens, i) {
  const [token, name, next] = [tokens[i], tokens[i + 1], tokens[i + 2]];
  return token.isType && next &&
    (token.contextualKeyword === ContextualKeyword._namespace ||
     token.contextualKeyword === ContextualKeyword._module) &&
    (name.type === TokenType.name || name.type === TokenType.string) &&
    (next.type === TokenType.braceL || next.type === TokenType.dot);
}

function look(source, tokens) {
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i].type === TokenType.at)
      refuse(source, tokens[i].start, 'decorators are not supported');
    if (!beginsNamespace(tokens, i))
      continue;
    if (!i || tokens[i - 1].contextualKeyword !== ContextualKeyword._declare)
      refuse(source, tokens[i].start, 'namespaces of TypeScript are not supported: use an object, or a file of its own');
    i = closing(tokens, i);
  }
}

parser.parse = function (source, ...rest) {
  const file = parse(source, ...rest);
  look(source, file.tokens);
  return file;
};

exports.strip = function (source, {fileName, keepImports}) {
  try {
    return transform(source, {
      transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: keepImports,
    }).code;
  } catch (thrown) {
    if (!thrown.loc)
      throw thrown;
    const error = new SyntaxError(thrown.message.replace(/ \(\d+:\d+\)$/, ''));
    const {isRefused, loc: {line, column}} = thrown;
    throw Object.assign(error, {line, column, sourceURL: fileName, isRefused});
  }
};
