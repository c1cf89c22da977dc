import csv
import io
import json

rows = [{'name': 'Zoë, "the" cat', 'age': 3}, {'name': 'line\nbreak', 'age': 4.5}]
with open('table.csv', 'w', newline='', encoding='utf-8') as file:
    writer = csv.DictWriter(file, ['name', 'age'])
    writer.writeheader()
    writer.writerows(rows)
with open('table.csv', newline='', encoding='utf-8') as file:
    back = list(csv.DictReader(file))
print(back)
with open('table.json', 'w') as file:
    json.dump({'rows': rows, 'none': None, 'big': 2 ** 70}, file, indent=1, sort_keys=True)
print(json.load(open('table.json'))['big'], json.dumps('ü☃'), json.dumps('ü☃', ensure_ascii=False))
print(csv.Sniffer().sniff('a;b;c\n1;2;3\n').delimiter,
      next(csv.reader(io.StringIO("a,'b,c'"), quotechar="'")))
json.loads('{"a": }')
