const user = await get_user({ id: 1 });
const html = (strings, ...values) => strings.reduce((out, s, i) => out + s + (i < values.length
  ? [values[i]].flat().map((v) => String(v).replace(/[&<>"']/g, (c) => `&#${c.codePointAt()};`)).join('') : ''), '');
const bad = '<script>alert("x")</script>';
console.log(html`<p title="${bad}">${user.tags.map((t) => t.toUpperCase() + ';')}</p>`);
const dedent = ({ raw: [first, ...rest] }, ...values) => {
  const text = rest.reduce((s, r, i) => s + values[i] + r, first).replace(/^\n/, '');
  const indent = Math.min(...text.split('\n').filter((l) => l.trim()).map((l) => l.match(/^ */)[0].length));
  return text.split('\n').map((l) => l.slice(indent)).join('\n').trimEnd();
};
console.log(dedent`
    Dear ${user.name},
      your id is ${user.id + 1 - 1}.
    \n is not a newline
`);
const greet = ({ name, tags: [first = 'none', ...others] = [], manager: { name: boss = 'nobody' } = {}, ...rest }) =>
  `${name}/${first}/${others.length}/${boss}/${Object.keys(rest)}`;
const ids = []; const same = (s) => (ids.push(s), s);
const twice = () => same`x`;
twice(); twice();
[greet(user), String.raw`C:\new\${1}`, `a${`b${1 + 1}`}c`, ids[0] === ids[1], Object.isFrozen(ids[0])];
