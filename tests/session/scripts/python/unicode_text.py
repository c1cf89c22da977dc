import sys
import unicodedata

for text in 'é', 'e\u0301', 'ß', 'ﬁ', 'İ', '𝔘', '\N{SNOWMAN}':
    print(text, len(text), text.upper(), text.casefold(), unicodedata.normalize('NFKC', text),
          ascii(text), text.encode(), unicodedata.name(text[0]))
print(sorted(['zebra', 'Ärger', 'apfel', 'Zug']), '{:>8}|{:^8}|{:<8}'.format('ü', 'ß', '☃'))
print(sys.stdout.encoding, sys.getdefaultencoding(), sys.getfilesystemencoding())
print('日本語'.isalpha(), '٣'.isdigit(), int('٣'), 'x'.join('abc'), 'a\tb'.expandtabs(4))
with open('größe.txt', 'w') as file:
    file.write('naïve\n')
print(open('größe.txt', 'rb').read())
b'\xff'.decode()
