// CSV with quotes, doubled quotes, newlines in fields, and empty ones.
function parseCsv(text, separator = ',') {
  const rows = [[]];
  let field = '', quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') { field += '"'; i++; }
      else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === separator) { rows.at(-1).push(field); field = ''; }
    else if (c === '\n') { rows.at(-1).push(field); field = ''; rows.push([]); }
    else if (c !== '\r') field += c;
  }
  if (field !== '' || rows.at(-1).length) rows.at(-1).push(field);
  else rows.pop();
  const [head, ...body] = rows;
  return body.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? null])));
}
const text = 'id,name,note,price\r\n1,"Smith, John","said ""hi""",1.50\r\n2,Ünal,"two\nlines",\n3,plain\n';
const rows = parseCsv(text);
console.log(rows);
const toCsv = (list) => list.map((r) => Object.values(r).map((v) => v === null ? '' :
  /[",\n]/.test(v) ? `"${v.replaceAll('"', '""')}"` : v).join(',')).join('\n');
console.log(toCsv(rows));
const again = parseCsv('id,name,note,price\n' + toCsv(rows));
[rows.length, JSON.stringify(again) === JSON.stringify(rows.map((r) => ({ ...r, note: r.note ?? '', price: r.price ?? '' })))];
