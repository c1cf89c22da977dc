// child_process: at once, and by events and callbacks.
const cp=require('child_process'); const util=require('util');
const t=(f)=>{let r;try{r=f()}catch(e){const c={...e};delete c.error;delete c.pid;console.log('!',String(e),c);return} if(r&&r.pid!==undefined)delete r.pid; if(r&&r.error){console.log('error',r.error.message,{...r.error});delete r.error} console.log(r)};
t(()=>cp.execFileSync('nope'));t(()=>cp.execSync('exit 3'));t(()=>cp.execSync('echo e>&2; echo hi; exit 3',{stdio:'pipe'}));t(()=>cp.spawnSync(3));t(()=>cp.execFileSync('sleep',['60'],{timeout:10}));
t(()=>cp.spawnSync('nope',['a']));t(()=>cp.spawnSync('sleep',['60'],{timeout:20}));t(()=>cp.spawnSync('cat',{input:'hi',encoding:'utf8'}));t(()=>cp.spawnSync('ls',{cwd:'/nope'}));t(()=>cp.execFileSync('/etc/passwd'));
t(()=>cp.spawnSync('echo',['a b'],{shell:true,encoding:'utf8',stdio:['ignore','pipe','ignore']}));t(()=>cp.spawnSync('sh',['-c','kill -9 $$']));t(()=>cp.execSync('kill -9 $$'));t(()=>cp.execSync(''));t(()=>cp.execSync(3));t(()=>cp.spawnSync('ls',{stdio:'foo'}));t(()=>cp.spawnSync('ls','x'));t(()=>cp.spawnSync('ls',[],{cwd:3}));t(()=>cp.spawnSync('ls',[],{timeout:-3}));t(()=>cp.spawnSync('ls',[],{killSignal:'SIGX'}));t(()=>cp.spawnSync('l\0s'));t(()=>cp.execFileSync('sh',['-c','exit 2'],{stdio:'inherit'}));
t(()=>cp.execFileSync('sh',['-c','echo $A-$B'],{env:{...process.env,A:1,B:undefined},encoding:'utf8'}));t(()=>{process.env.QQ='7';return cp.execSync('echo $QQ').toString()});
t(()=>cp.spawnSync('yes',{maxBuffer:70000}).error.code); t(()=>cp.execFileSync('cat',{input:'x'.repeat(300000)}).length);t(()=>cp.execFileSync('pwd',{cwd:'/tmp',encoding:'utf8'}));
t(()=>cp.execFileSync('sh',['-c','exit 0'],{input:'x'.repeat(3000000)}).length);
console.log('before'); t(()=>cp.execFileSync('echo',['inherited'],{stdio:'inherit'})); console.log('after');t(()=>cp.execFileSync('sh',['-c','echo $0'],{argv0:'me',encoding:'utf8'}));
const p=util.promisify(cp.exec),pf=util.promisify(cp.execFile);
(async()=>{
 console.log(await p('echo hi; echo e >&2')); await p('echo o; echo e>&2; exit 4').catch(e=>console.log(e.message,{...e}));
 console.log(await pf('echo',['a','b'])); await pf('nope').catch(e=>console.log(e.message,{...e}));
 await p('yes | head -c 5000',{maxBuffer:10}).catch(e=>console.log(e.message,e.code,e.stdout.length));
 await new Promise(r=>{const c=cp.spawn('cat');c.stdout.setEncoding('utf8');c.stdout.on('data',d=>console.log('data',JSON.stringify(d)));c.on('exit',(...a)=>console.log('exit',...a));c.on('close',(...a)=>{console.log('close',...a);r()});c.stdin.write('one ');c.stdin.end('two')});
 await new Promise(r=>{const c=cp.spawn('nope',['x']);c.on('error',e=>console.log('error',e.message,{...e}));c.on('close',(...a)=>{console.log('close',...a);r()})});
 await new Promise(r=>cp.exec('exit 1',(e,o,s)=>{console.log(e.message,e.code,e.killed,e.signal,e.cmd,[o,s]);r()}));
 await new Promise(r=>cp.spawn('sh',['-c','echo direct; exit 5'],{stdio:'inherit'}).on('close',(...a)=>{console.log(...a);r()}));
 let all='';for await (const d of cp.spawn('printf',['a\\nb']).stdout) all+=d; console.log(JSON.stringify(all));
})().catch(e=>console.log('FAILED',e));
