import datetime as dt
import os
import time
import zoneinfo

berlin = zoneinfo.ZoneInfo('Europe/Berlin')
moment = dt.datetime(2024, 3, 31, 1, 30, tzinfo=berlin)
print(moment, moment + dt.timedelta(hours=1),
      (moment.astimezone(dt.timezone.utc) + dt.timedelta(hours=1)).astimezone(berlin))
print(dt.date(2024, 2, 29).isocalendar(), dt.date(2024, 12, 31).strftime('%j %A %d. %B %y'),
      dt.date.fromisoformat('2023-01-05'))
print(dt.datetime.strptime('14 Mar 1999 23:05', '%d %b %Y %H:%M'), dt.timedelta(days=-1, seconds=5))
os.environ['TZ'] = 'America/New_York'
time.tzset()
print(time.tzname, time.strftime('%Y-%m-%d %H:%M %Z', time.localtime(0)),
      dt.datetime.fromtimestamp(1e9))
dt.date(2023, 2, 29)
