import sqlite3

with sqlite3.connect('things.db') as db:
    db.execute('create table thing (id integer primary key, name text unique, weight real)')
    db.executemany('insert into thing (name, weight) values (?, ?)',
                   [('stone', 2.5), ('feather', .01), ('größe', None)])
    for row in db.execute('select name, weight, sum(weight) over (order by id) from thing'):
        print(row)
db.create_function('twice', 1, lambda x: x * 2)
third = 'select twice(21), upper(name), typeof(weight) from thing where id = 3'
print(db.execute(third).fetchone())
try:
    with db:
        db.execute("insert into thing (name) values ('new')")
        db.execute("insert into thing (name) values ('stone')")
except sqlite3.IntegrityError as error:
    print(error)
print(db.execute('select count(*) from thing').fetchone())
db.close()
sqlite3.connect('things.db').execute('select * from nowhere')
