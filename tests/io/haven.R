# R's haven as the other program: `make FOLDER` writes files, `tell FILE...` says what haven reads of each, a fact a line.

suppressMessages(library(haven))

n <- 40L
i <- seq_len(n) - 1L
tagged_dates <- as.numeric(as.Date("1950-01-15") + 37L * i)
tagged <- function(tag, x) ifelse(i %% 5L == 0L, tagged_na(tag), ifelse(i %% 7L == 0L, NA, x))

common <- list(
  qi = as.numeric(i %% 4L), id = 3L * i, whole = 2^40 + i, gaps = ifelse(i %% 5L == 0L, NA, i %% 4L + 0.5),
  text = c("a", "b b", "CC", "D")[i %% 4L + 1L], holes = ifelse(i %% 3L == 0L, "seen", NA), none = NA_real_,
  day = as.Date("1950-01-01") + 377L * i,
  moment = as.POSIXct("2020-01-01 03:04:05.25", tz = "UTC") + 31 * 3600 * i,
  logical = i %% 2L == 0L)
clocks <- list(time = hms::as_hms((i * 3661.25) %% 86400), lasts = hms::as_hms(i * 7200 - 7200))
accents <- list(accents = c("\u00e4", "b", "\u00c7\u00c7", "\u65e5\u672c")[i %% 4L + 1L],
                essay = strrep("\u00e4", 900L + i))
sexes <- c("weiblich" = 1, "m\u00e4nnlich" = 2, "CANARY of Kleinhausen" = 3)
factors <- list(
  sex = labelled(as.numeric(1L + i %% 2L), sexes, label = "Geschlecht (\u00e4)"),
  level = factor(c("low", "mid", "high")[i %% 3L + 1L], levels = c("low", "mid", "high", "CANARY level")),
  grade = ordered(c("low", "mid", "high")[i %% 3L + 1L], levels = c("low", "mid", "high")))
codes <- as.numeric(ifelse(i %% 9L == 0L, 99, ifelse(i %% 7L == 0L, -3, i %% 4L)))
spss <- list(
  trust = labelled_spss(codes, c("refused" = 99, "a lot" = 1, "CANARY who moved away" = 77), na_values = 99,
                        na_range = c(-9, -1), label = "Trust in courts"),
  three = labelled_spss(codes, c("refused" = 99), na_values = c(-3, 98, 99)),
  below = labelled_spss(codes, c("none" = -3), na_range = c(-Inf, -1)),
  shop = labelled_spss(ifelse(i %% 2L == 1L, "a", "zz"), c("shop A" = "a", "CANARY shop" = "q"), na_values = "zz"),
  firm = labelled(rep(c("a long value", "another"), 20L), c("label" = "a long value", "CANARY" = "a gone text")),
  half = labelled(i %% 3L + 0.5, c("half" = 0.5, "CANARY" = 9.5)),
  money = structure(i + 0.25, format.spss = "DOLLAR10.2"), month = structure(i %% 12L + 1, format.spss = "MONTH9"),
  week = structure(as.Date("2020-01-15") + i, format.spss = "SDATE10"))
names(spss)[9L] <- "gr\u00f6\u00dfe"
stata <- list(
  tagged = labelled(tagged("a", as.numeric(i %% 6L)), c("refused" = tagged_na("a"), "CANARY" = tagged_na("b"), "no" = 0)),
  only = c(tagged_na("z"), rep(NA, n - 1L)),
  month = structure(i + 700, format.stata = "%tm"), fixed = structure(i + 0.5, format.stata = "%9.2f"),
  clock = structure(as.POSIXct("1960-01-01", tz = "UTC") + 60 * i, format.stata = "%tcHH:MM:SS"),
  passed = structure(as.POSIXct("1999-12-31 23:00:00", tz = "UTC") + 3600 * i, format.stata = "%tcHH:MM:SS"))
sas <- list(
  money = structure(i + 0.25, format.sas = "COMMA8.2", label = "Geld \u00e4"), coded = structure(i, format.sas = "Z5"),
  week = structure(as.Date("2020-01-15") + i, format.sas = "YYMMDD10"),
  shown = structure(c("a", "bb")[i %% 2L + 1L], format.sas = "$CHAR10"))
dates <- function(tag) list(day = as.Date(tagged(tag, tagged_dates), origin = "1970-01-01"),
                            moment = as.POSIXct(tagged(tag, 86400 * tagged_dates + 5), origin = "1970-01-01", tz = "UTC"))
keys <- common[c("qi", "id")]

make <- function(folder) {
  write <- function(program, columns, file, ...) program(tibble::as_tibble(columns), file.path(folder, file), ...)
  everything <- c(common, clocks, accents, factors, spss)
  write(write_sav, everything, "bytes.sav", compress = "byte")
  write(write_sav, everything, "plain.sav", compress = "none")
  write(write_sav, everything, "small.zsav", compress = "zsav")
  missing <- labelled_spss(86400 * (150000 + i), na_values = 86400 * 150000)
  write(write_sav, c(keys, list(day = structure(missing, format.spss = "DATE11"))), "dates.sav")
  for (version in c(8L, 10L, 11L, 12L, 13L))
    write(write_dta, c(common, factors, stata), sprintf("v%d.dta", version), version = version)
  for (version in c(14L, 15L))
    write(write_dta, c(common, accents, factors, stata), sprintf("v%d.dta", version), version = version, label = "CANARY")
  write(write_dta, c(keys, setNames(dates("a"), c("day", "moment"))), "dates.dta")
  for (version in c(5L, 8L))
    write(write_xpt, c(common, clocks, accents, sas), sprintf("v%d.xpt", version), version = version, name = "CANARY")
  tagged_columns <- c(list(tagged = tagged("A", i %% 6L)), dates("A"))
  names(tagged_columns) <- c("codes", "day", "moment")
  write(write_xpt, c(keys, tagged_columns), "tags.xpt")
  suppressWarnings(write(write_sas, c(common, clocks, accents, sas), "plain.sas7bdat"))
  suppressWarnings(write(write_sas, c(keys, tagged_columns), "tags.sas7bdat"))
}

cells <- function(x) {
  if (!is.numeric(x)) return(ifelse(is.na(x), "NA", as.character(x)))
  tag <- na_tag(x)
  ifelse(!is.na(x), sprintf("%.15g", x), ifelse(is.na(tag), "NA", paste0(".", tag)))
}

tell <- function(file) {
  program <- switch(tools::file_ext(file), dta = read_dta, xpt = read_xpt, sas7bdat = read_sas,
                    function(file) read_sav(file, user_na = TRUE))
  table <- program(file)
  table <- table[order(as.numeric(table$id)), ]
  for (name in names(table)) {
    column <- table[[name]]
    say <- function(fact, values) cat(file, name, fact, paste(values, collapse = "|"), sep = "\t", fill = FALSE)
    facts <- attributes(column)[c("label", "na_values", "na_range", "format.spss", "format.stata", "format.sas")]
    facts <- c(facts, list(class = class(column), cells = cells(unclass(column))))
    labels <- attr(column, "labels")
    if (!is.null(labels)) facts$labels <- paste(cells(unclass(labels)), names(labels), sep = "=")
    for (fact in names(facts)[!vapply(facts, is.null, TRUE)]) { say(fact, facts[[fact]]); cat("\n") }
  }
}

asked <- commandArgs(trailingOnly = TRUE)
if (asked[1L] == "make") make(asked[2L]) else for (file in asked[-1L]) tell(file)
