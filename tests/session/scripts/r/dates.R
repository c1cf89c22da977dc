d <- as.Date("2024-02-28") + 0:2
d
format(d, "%d.%m.%y %a %j")
seq(as.Date("2024-01-31"), by = "month", length.out = 3)
difftime(as.POSIXct("2024-03-31 04:00", tz = "Europe/Berlin"),
    as.POSIXct("2024-03-31 00:00", tz = "Europe/Berlin"))
x <- as.POSIXct("2024-07-01 12:00:00", tz = "UTC")
format(x, tz = "America/New_York", usetz = TRUE)
unclass(as.POSIXlt(x))$yday
strftime(ISOdate(1999, 12, 31), "%A %B")
Sys.setenv(TZ = "Asia/Tokyo")
as.POSIXct(0, origin = "1970-01-01")
strptime("14Mar1999 23:05", "%d%b%Y %H:%M", tz = "UTC")
cut(d, "month")
round(x, "days")
months(d[1])
as.Date("not a date")
