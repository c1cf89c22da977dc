const EventEmitter = require('events');
const { once } = EventEmitter;
class Job extends EventEmitter {
  async run(ids) {
    this.emit('start', ids.length);
    for (const id of ids) {
      try { this.emit('item', await get_user(id)); } catch (e) { this.emit('error', e, id); }
    }
    this.emit('end');
  }
}
const job = new Job(), seen = [];
job.on('item', ({ name }) => seen.push(name)).once('item', () => seen.push('(first)'));
job.prependListener('item', () => seen.push('+'));
job.on('error', (e, id) => seen.push(`${id}: ${e.message}`));
const ended = new Promise((resolve) => job.once('end', () => resolve('all')));
job.run([1, 50, 2]);
seen.push(await ended, ...await Promise.all([once(job, 'start'), job.run([3, 4])]).then(([args]) => args));
console.log(seen, job.listenerCount('item'), job.eventNames());
const target = new EventTarget();
const controller = new AbortController();
target.addEventListener('ping', (e) => seen.push(e.type + e.detail), { signal: controller.signal });
target.dispatchEvent(Object.assign(new Event('ping'), { detail: 1 }));
controller.abort(new Error('enough'));
target.dispatchEvent(new Event('ping'));
let said;
try { controller.signal.throwIfAborted(); } catch (e) { said = e.message; }
try { new EventEmitter().emit('error', new Error('unheard')); } catch (e) { said += `, ${e.message}`; }
[said, seen.at(-1), controller.signal.aborted];
