// readline.js - lines of a stream, and questions.
// There is no terminal: nothing is edited, and no history is kept.
const { EventEmitter } = internal('events');
const { StringDecoder } = internal('string_decoder');
const { coded, checkString, wrongValue } = internal('errors');
// A carriage return at the end may be the first half of an end of line.
const ends = /\r?\n|\r(?!\n|$)|\u2028|\u2029/;
const closed = () => coded(Error, 'ERR_USE_AFTER_CLOSE', 'readline was closed');

class Interface extends EventEmitter {
    #decoder = new StringDecoder('utf8');
    #rest = '';
    #question = null;
    #listeners = null;
    constructor(input, output) {
        super();
        const options = typeof input?.on === 'function' ? { input, output } : { ...input };
        if (typeof options.input?.on !== 'function') throw wrongValue('input', options.input);
        this.input = options.input;
        this.output = options.output ?? undefined;
        this.terminal = false;
        this.line = '';
        this.closed = false;
        this.paused = false;
        this.crlfDelay = 100;
        this.historySize = 0;
        this.prompted = options.prompt ?? '> ';
        this.#listeners = {
            data: piece => this.#take(this.#decoder.write(piece)),
            end: () => {
                const text = this.#decoder.end();
                if (text) this.#take(text);
                if (this.#rest) this.#tell(this.#rest.replace(/\r$/, ''));
                this.#rest = '';
                this.close();
            },
            error: error => this.emit('error', error),
        };
        for (const name of Object.keys(this.#listeners)) this.input.on(name, this.#listeners[name]);
        options.signal?.addEventListener('abort', () => this.close(), { once: true });
        this.input.resume();
    }
    #take(text) {
        const lines = (this.#rest + text).split(ends);
        this.#rest = lines.pop();
        for (const line of lines) this.#tell(line);
    }
    #tell(line) {
        const answer = this.#question;
        this.#question = null;
        if (answer) answer(line);
        else this.emit('line', line);
    }
    getPrompt() { return this.prompted; }
    setPrompt(prompt) { this.prompted = `${prompt}`; }
    prompt() {
        if (this.paused) this.resume();
        this.output?.write(this.prompted);
    }
    question(query, options, callback) {
        callback = typeof options === 'function' ? options : callback;
        checkString(query, 'query');
        if (this.closed) throw closed();
        if (typeof callback !== 'function' || options?.signal?.aborted) return;
        if (this.#question) { // one is open: as Node does, only the prompt is shown again
            this.prompt();
            return;
        }
        options?.signal?.addEventListener('abort', () => { this.#question = null; }, { once: true });
        this.#question = callback;
        this.output?.write(query);
        if (this.paused) this.resume();
    }
    write(text) {
        if (this.closed) throw closed();
        if (this.paused) this.resume();
        if (text != null) this.#take(typeof text === 'string' ? text : this.#decoder.write(text));
    }
    pause() {
        if (this.paused) return this;
        this.input.pause();
        this.paused = true;
        this.emit('pause');
        return this;
    }
    resume() {
        if (!this.paused) return this;
        this.input.resume();
        this.paused = false;
        this.emit('resume');
        return this;
    }
    close() {
        if (this.closed) return;
        this.pause();
        for (const name of Object.keys(this.#listeners)) this.input.off(name, this.#listeners[name]);
        this.closed = true;
        this.emit('close');
    }
    getCursorPos() { return { rows: 0, cols: 0 }; }
    [Symbol.dispose ?? Symbol.for('nodejs.dispose')]() { this.close(); }
    [Symbol.asyncIterator]() {
        const lines = [];
        let wake = null, failed = null;
        const told = () => {
            wake?.();
            wake = null;
        };
        const listeners = {
            line: line => { lines.push(line); told(); },
            close: told,
            error: error => { failed = error; told(); },
        };
        for (const name of Object.keys(listeners)) this.on(name, listeners[name]);
        const iterate = async function* (from) {
            try {
                for (;;) {
                    if (failed) throw failed;
                    if (lines.length) yield lines.shift();
                    else if (from.closed) return;
                    else await new Promise(resolve => { wake = resolve; });
                }
            } finally {
                for (const name of Object.keys(listeners)) from.off(name, listeners[name]);
                from.close();
            }
        };
        return iterate(this);
    }
}

const codeWriter = code => (stream, ...rest) => {
    const callback = rest.find(value => typeof value === 'function');
    const text = code(...rest.filter(value => value !== callback));
    if (text && stream != null) return stream.write(text, ...callback ? [callback] : []);
    if (callback) queueMicrotask(callback);
    return true;
};
const step = (n, back, on) => (n < 0 ? `\x1b[${-n}${back}` : n > 0 ? `\x1b[${n}${on}` : '');
const screen = {
    clearLine: codeWriter(direction => `\x1b[${direction < 0 ? 1 : direction > 0 ? 0 : 2}K`),
    clearScreenDown: codeWriter(() => '\x1b[0J'),
    cursorTo: codeWriter((x, y) => (typeof y === 'number' ? `\x1b[${y + 1};${x + 1}H` : `\x1b[${x + 1}G`)),
    moveCursor: codeWriter((x, y) => step(x, 'D', 'C') + step(y, 'A', 'B')),
};
const createInterface = (input, output) => new Interface(input, output);

class PromisesInterface extends Interface {
    question(query, options) {
        return new Promise((resolve, reject) => {
            const { signal } = { ...options };
            const refuse = () => reject(internal('events').aborted(signal));
            if (signal?.aborted) return refuse();
            signal?.addEventListener('abort', refuse, { once: true });
            super.question(query, { signal }, resolve);
        });
    }
}

Object.assign(exports, {
    ...screen, createInterface, Interface, emitKeypressEvents() {},
    promises: { createInterface: (input, output) => new PromisesInterface(input, output), Interface: PromisesInterface },
});
