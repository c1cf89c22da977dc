class AppError extends Error {
  constructor(message, { code = 'E_APP', ...options } = {}) {
    super(message, options);
    this.name = this.constructor.name;
    this.code = code;
  }
}
class NotFound extends AppError {}
async function load(id) {
  try {
    return await get_user(id);
  } catch (e) {
    throw new NotFound(`user ${id}`, { code: 'E_404', cause: e });
  }
}
const chain = (e) => e ? [`${e.name}: ${e.message}`, ...chain(e.cause)] : [];
const log = [];
const run = async () => {
  try {
    log.push('try');
    await load(77);
    log.push('never');
  } catch (e) {
    log.push(e.code, e instanceof NotFound && e instanceof AppError, ...chain(e));
    return 'from catch';
  } finally {
    log.push('finally');
  }
};
log.push(await run());
const order = (() => { try { return 'try'; } finally { log.push('first'); } })();
const override = (() => { try { throw new Error('lost'); } finally { return 'finally wins'; } })();
const all = new AggregateError([new TypeError('one'), new RangeError('two')], 'several');
log.push(order, override, all.errors.map(String), Object.prototype.toString.call(new NotFound('x')));
console.log(log);
const e = new NotFound('last', { cause: { status: 404 } });
[e.cause.status, /error_causes|code/.test(e.stack), Object.keys(e)];
