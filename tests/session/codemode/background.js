// What is not awaited still runs to its end, and what it rejects with is not lost.
const log = [];
const note = async (id) => { const u = await get_user(id); log.push(u.name); };
note(1); note(2);
setTimeout(() => log.push('timer'), 5);
'returned';
// ---- next execution
console.log(log.toSorted());
const guarded = note(404).catch((e) => log.push(e.message));
Promise.reject(new Error('handled later')).catch(() => {});
void guarded;
// ---- next execution
console.log(log.length, log.at(-1));
(async () => { console.log('loading'); await note(404); })();
'not the value';
// ---- next execution
log.includes('timer');
