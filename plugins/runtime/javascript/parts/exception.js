// exception.js - DOMException, which errors of the web's interfaces are.
const { defineProperty } = Object;

// The place of a name is its code; those without a name are of no use any more.
const names = ['', 'IndexSizeError', '', 'HierarchyRequestError', 'WrongDocumentError',
    'InvalidCharacterError', '', 'NoModificationAllowedError', 'NotFoundError', 'NotSupportedError',
    'InUseAttributeError', 'InvalidStateError', 'SyntaxError', 'InvalidModificationError',
    'NamespaceError', 'InvalidAccessError', '', 'TypeMismatchError', 'SecurityError', 'NetworkError',
    'AbortError', 'URLMismatchError', 'QuotaExceededError', 'TimeoutError', 'InvalidNodeTypeError',
    'DataCloneError'];
const unnamed = { 2: 'DOMSTRING_SIZE', 6: 'NO_DATA_ALLOWED', 16: 'VALIDATION' };

class DOMException extends Error {
    #name;
    #message;
    constructor(message = '', options = 'Error') {
        super();
        const named = options !== null && typeof options === 'object';
        this.#message = `${message}`;
        this.#name = `${named ? options.name ?? 'Error' : options}`;
        if (named && 'cause' in options) {
            defineProperty(this, 'cause',
                { value: options.cause, writable: true, configurable: true, enumerable: false });
        }
    }
    get name() { return this.#name; }
    get message() { return this.#message; }
    get code() {
        const code = names.indexOf(this.#name);
        return code > 0 ? code : 0;
    }
}
for (const name of ['name', 'message', 'code']) defineProperty(DOMException.prototype, name, { enumerable: true });
defineProperty(DOMException.prototype, Symbol.toStringTag, { value: 'DOMException', configurable: true });
names.forEach((name, code) => {
    if (!code) return;
    const constant = `${unnamed[code] ?? name.replace(/Error$/, '').replace(/(?<=[a-z])(?=[A-Z])|(?<=URL)/g, '_')
        .toUpperCase()}_ERR`;
    const property = { value: code, enumerable: true };
    defineProperty(DOMException, constant, property);
    defineProperty(DOMException.prototype, constant, property);
});
exports.DOMException = DOMException;
