// failures.js - errors of calls of the system, as Node.js words them.
const { errorText } = native;

// number is below 0, as a native gives it.
exports.failure = (number, syscall, path, dest) => {
    const text = errorText(-number) ?? `Unknown system error ${number}: Unknown system error ${number}`;
    const shown = value => typeof value === 'string' ? value : native.utf8Decode(value);
    let message = `${text}, ${syscall}`;
    if (path !== undefined) message += ` '${shown(path)}'`;
    if (dest !== undefined) message += ` -> '${shown(dest)}'`;
    const error = new Error(message);
    error.errno = number;
    error.code = exports.nameOf(number);
    error.syscall = syscall;
    if (path !== undefined) error.path = shown(path);
    if (dest !== undefined) error.dest = shown(dest);
    return error;
};

// 'ENOENT' of -2.
exports.nameOf = number => (errorText(-number) ?? `Unknown system error ${number}`).split(':', 1)[0];

// An error of a call that JavaScript makes of several.
exports.compound = (code, syscall, name, number, reason, path, text) => {
    const error = new Error(`${text}: ${syscall} returned ${name} (${reason}) ${path}`);
    Object.defineProperty(error, 'name', { value: 'SystemError', configurable: true, writable: true });
    error.code = code;
    error.info = { code: name, message: reason, path, syscall, errno: number };
    error.errno = number;
    error.syscall = syscall;
    error.path = path;
    Object.defineProperty(error, 'toString', {
        value() { return `${this.name} [${code}]: ${this.message}`; }, configurable: true, writable: true,
    });
    return error;
};
