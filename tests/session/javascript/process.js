// process.
const t=f=>{try{console.log(f())}catch(e){console.log(String(e),{...e})}};
process.env.A_B=5; t(()=>[process.env.A_B,'A_B' in process.env,Object.keys(process.env).includes('A_B'),delete process.env.A_B,process.env.A_B,'A_B' in process.env]);
t(()=>({...process.env}).PATH===process.env.PATH); t(()=>{process.env.U=undefined;return process.env.U}); t(()=>process.env.toString===undefined);
t(()=>{process.env[Symbol('x')]=1}); t(()=>typeof process.env.hasOwnProperty); t(()=>Object.prototype.hasOwnProperty.call(process.env,'U'));
t(()=>[process.platform,process.arch,process.version.split('.')[0],typeof process.versions.node,process.release.name,typeof process.pid,typeof process.ppid,process.execArgv]);
t(()=>[process.uptime()>0,process.hrtime().length,typeof process.hrtime.bigint(),process.memoryUsage().rss>1e6,Object.keys(process.memoryUsage()),process.memoryUsage.rss()>1e6,Object.keys(process.cpuUsage()),Object.keys(process.resourceUsage())]);
t(()=>{const a=process.hrtime();const d=process.hrtime(a);return [d[0],d[1]>=0]}); t(()=>process.hrtime(1)); t(()=>process.chdir(3)); t(()=>process.kill(process.pid,'SIGFOO')); t(()=>process.kill(99999999)); t(()=>process.kill(process.pid,0)); t(()=>process.kill('x'));
t(()=>process.umask('x9')); t(()=>{const o=process.umask(0o77);return [o,process.umask(o)]}); t(()=>[typeof process.getuid(),typeof process.getgid(),process.getgroups().length>0]);
t(()=>process.emitWarning(1)); t(()=>process.exit('x')); t(()=>process.exit(1.5)); t(()=>{process.exitCode='zz'}); t(()=>process.nextTick(3));
t(()=>[process.stdout.isTTY,process.stdout.fd,process.stderr.fd,process.stdout.columns,process.stdout.writable]); t(()=>process.stdout.write('written\n')); t(()=>Object.prototype.toString.call(process)); t(()=>process instanceof require('events')); t(()=>process.listenerCount('exit'));
t(()=>process.stdout.write(Buffer.from('bytes\n'))); t(()=>process.stdout.write(3)); t(()=>process===require('process')); t(()=>process.title.length>0); t(()=>process.config.variables!==undefined);t(()=>process.constructor.name);
process.nextTick((a,b)=>console.log('tick',a,b),1,2); Promise.resolve().then(()=>console.log('micro'));
process.on('exit',c=>console.log('exit',c,process.exitCode)); process.once('foo',x=>console.log('foo',x)); t(()=>process.emit('foo',3)); t(()=>process.emit('foo'));
process.on('uncaughtException',(e,o)=>console.log('uncaught',e.message,o)); process.on('unhandledRejection',(r)=>console.log('unhandled',r.message));
setTimeout(()=>{throw new Error('late')},1); setTimeout(()=>Promise.reject(new Error('rej')),2); setTimeout(()=>{process.stdout.write('cb\n',()=>console.log('called'))},5);
setTimeout(async()=>{let s='';process.stdin.setEncoding('utf8');for await(const c of process.stdin)s+=c;console.log('stdin',JSON.stringify(s))},10);
