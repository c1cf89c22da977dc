import re

text = 'Mr. Müller (born 1962-03-14) met Ms. Øst (born 1971-11-02).'
print(re.findall(r'\b[^\W\d_]+(?= \(born)', text))
print([m.groupdict() for m in re.finditer(r'(?P<year>\d{4})-(?P<month>\d\d)', text)])
print(re.sub(r'(\d+)-(\d+)-(\d+)', lambda m: '.'.join(reversed(m.groups())), text))
print(re.split(r'([.,;])\s*', 'a, b;c. d'), re.fullmatch('a|ab', 'ab'))
pattern = re.compile(r'''
    ^ (\w+) \s* = \s* (.*?) \s* $   # name = value
''', re.VERBOSE | re.MULTILINE)
print(pattern.findall('a = 1\n b=2\nc =  three  \n'), pattern)
re.compile('(unclosed')
