# SPDX-License-Identifier: MIT
# Dates and instants as the texts of $date and $time, and back. All functions take vectors. Years
# outside 0 to 9999 have no text: NA.

days_of_civil <- function(year, month, day) {
    year <- year - (month <= 2) # years begin in March, so that the leap day comes last
    era <- floor(year / 400)
    of_era <- year - era * 400
    of_year <- (153 * (month + ifelse(month > 2, -3, 9)) + 2) %/% 5 + day - 1
    era * 146097 + of_era * 365 + of_era %/% 4 - of_era %/% 100 + of_year - 719468
}

format_days <- function(days) {
    days <- floor(days)
    text <- rep(NA_character_, length(days))
    good <- which(is.finite(days) & abs(days) < 4e6)
    shifted <- days[good] + 719468
    era <- floor(shifted / 146097)
    of_era <- shifted - era * 146097
    year <- (of_era - of_era %/% 1460 + of_era %/% 36524 - of_era %/% 146096) %/% 365
    of_year <- of_era - (365 * year + year %/% 4 - year %/% 100)
    month <- (5 * of_year + 2) %/% 153
    day <- of_year - (153 * month + 2) %/% 5 + 1
    month <- month + ifelse(month < 10, 3, -9)
    year <- year + era * 400 + (month <= 2)
    in_range <- year >= 0 & year <= 9999
    text[good[in_range]] <- sprintf("%04.0f-%02.0f-%02.0f", year, month, day)[in_range]
    text
}

format_seconds <- function(seconds) {
    whole <- floor(seconds)
    nanos <- round((seconds - whole) * 1e9) # nine digits distinguish all doubles in this range
    carry <- which(nanos >= 1e9)
    whole[carry] <- whole[carry] + 1
    nanos[carry] <- 0
    days <- floor(whole / 86400)
    rest <- whole - days * 86400
    date <- format_days(days)
    fraction <- ifelse(nanos > 0, sub("0+$", "", sprintf(".%09.0f", nanos)), "")
    text <- sprintf("%sT%02.0f:%02.0f:%02.0f%sZ", date, rest %/% 3600, rest %/% 60 %% 60,
                    rest %% 60, fraction)
    text[is.na(date)] <- NA_character_
    text
}

# Days since 1970 of texts like 2024-01-31; NA where the text is another one.
parse_days <- function(text) {
    days <- rep(NA_real_, length(text))
    good <- grepl("^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", text)
    days[good] <- days_of_civil(as.numeric(substr(text[good], 1L, 4L)),
                                as.numeric(substr(text[good], 6L, 7L)),
                                as.numeric(substr(text[good], 9L, 10L)))
    days
}

time_pattern <- paste0("^([0-9-]{10})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(\\.[0-9]+)?",
                       "([Zz]|[+-][0-9]{2}:[0-9]{2})?$")

# Seconds since 1970, with an attribute that says which texts have no offset: they are in local
# time. NA where the text is not a time.
parse_seconds <- function(text) {
    part <- function(i) sub(time_pattern, paste0("\\", i), text)
    good <- grepl(time_pattern, text)
    seconds <- rep(NA_real_, length(text))
    local <- logical(length(text))
    if (!any(good))
        return(structure(seconds, local = local))
    text <- text[good]
    days <- parse_days(part(1))
    fraction <- part(5)
    fraction <- ifelse(nzchar(fraction), as.numeric(paste0("0", fraction)), 0)
    clock <- as.numeric(part(2)) * 3600 + as.numeric(part(3)) * 60 + as.numeric(part(4))
    zone <- part(6)
    local[good] <- !nzchar(zone)
    shift <- grepl("^[+-]", zone)
    offset <- numeric(length(text))
    offset[shift] <- (as.numeric(substr(zone[shift], 2L, 3L)) * 3600 +
                      as.numeric(substr(zone[shift], 5L, 6L)) * 60) *
        ifelse(startsWith(zone[shift], "-"), -1, 1)
    seconds[good] <- days * 86400 + clock - offset + fraction
    for (i in which(local)) {
        # The same clock reading, but in the time zone of this process.
        clock <- as.POSIXlt(floor(seconds[i]), origin = "1970-01-01", tz = "UTC")
        seconds[i] <- as.numeric(as.POSIXct(format(clock, "%Y-%m-%d %H:%M:%S"), tz = "")) +
            seconds[i] - floor(seconds[i])
    }
    structure(seconds, local = local)
}
