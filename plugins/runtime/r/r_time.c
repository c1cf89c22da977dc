/* SPDX-License-Identifier: MIT */
/* r_time.c - converts dates and instants to the texts of $date and $time and back.
 * Side: agent.  Input trusted: no (both ways).
 *
 * R counts days and seconds since 1970 in doubles. Years outside 0 to 9999 have no text. */
#include "r.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t time_days_from_civil(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2; /* count years from March, so that the leap day comes last */
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static void time_civil_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t of_era = days - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
    int64_t m = (5 * of_year + 2) / 153;
    *day = (unsigned)(of_year - (153 * m + 2) / 5 + 1);
    *month = (unsigned)(m < 10 ? m + 3 : m - 9);
    *year = y + era * 400 + (*month <= 2);
}

bool r_date_parse(const char *text, int64_t *days, int *used)
{
    int year, month, day;

    *used = 0;
    if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, used) != 3 || *used != 10 || month < 1 ||
        month > 12 || day < 1 || day > 31)
        return false;
    *days = time_days_from_civil(year, (unsigned)month, (unsigned)day);
    return true;
}

/* Converts local time of the process, for a text without an offset. */
static double time_local(int64_t days, int hour, int minute, int second)
{
    int64_t year;
    unsigned month, day;

    time_civil_from_days(days, &year, &month, &day);
    struct tm tm = {.tm_year = (int)year - 1900,
                    .tm_mon = (int)month - 1,
                    .tm_mday = (int)day,
                    .tm_hour = hour,
                    .tm_min = minute,
                    .tm_sec = second,
                    .tm_isdst = -1};
    return (double)mktime(&tm);
}

bool r_time_parse(const char *text, double *seconds, bool *local)
{
    int64_t days;
    int used, hour, minute, second;
    double fraction = 0;

    if (!r_date_parse(text, &days, &used) || !strchr("Tt ", text[used]) || text[used] == '\0')
        return false;
    text += used + 1;
    used = 0;
    if (sscanf(text, "%2d:%2d:%2d%n", &hour, &minute, &second, &used) != 3 || used != 8)
        return false;
    text += used;
    if (*text == '.') {
        char *end;
        fraction = strtod(text, &end);
        text = end;
    }
    *local = *text == '\0';
    if (*local) {
        *seconds = time_local(days, hour, minute, second) + fraction;
        return true;
    }
    int offset = 0;
    if (*text == '+' || *text == '-') {
        int hours, minutes;
        if (sscanf(text + 1, "%2d:%2d", &hours, &minutes) != 2)
            return false;
        offset = (hours * 60 + minutes) * (*text == '-' ? -60 : 60);
    } else if (strcmp(text, "Z") != 0 && strcmp(text, "z") != 0) {
        return false;
    }
    *seconds = (double)(days * 86400 + hour * 3600 + minute * 60 + second - offset) + fraction;
    return true;
}

bool r_date_format(double days, char text[R_TIME_TEXT])
{
    int64_t year;
    unsigned month, day;

    if (!R_FINITE(days) || fabs(days) > 4e6)
        return false;
    time_civil_from_days((int64_t)floor(days), &year, &month, &day);
    if (year < 0 || year > 9999)
        return false;
    snprintf(text, R_TIME_TEXT, "%04d-%02u-%02u", (int)year, month, day);
    return true;
}

bool r_time_format(double seconds, char text[R_TIME_TEXT])
{
    if (!R_FINITE(seconds) || fabs(seconds) > 4e11)
        return false;
    /* Nine decimals distinguish any two doubles in the range of these times. */
    double whole = floor(seconds);
    int64_t nanos = llround((seconds - whole) * 1e9);
    if (nanos >= 1000000000) {
        whole += 1;
        nanos -= 1000000000;
    }
    double days = floor(whole / 86400);
    unsigned rest = (unsigned)(whole - days * 86400);
    if (!r_date_format(days, text))
        return false;
    int n = 10;
    n += snprintf(text + n, R_TIME_TEXT - (size_t)n, "T%02u:%02u:%02u", rest / 3600, rest / 60 % 60,
                  rest % 60);
    if (nanos > 0) {
        n += snprintf(text + n, R_TIME_TEXT - (size_t)n, ".%09" PRId64, nanos);
        while (text[n - 1] == '0')
            n--;
    }
    memcpy(text + n, "Z", 2);
    return true;
}
