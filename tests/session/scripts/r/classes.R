setClass("Person", representation(name = "character", age = "numeric"),
         validity = function(object) if (object@age < 0) "too young" else TRUE)
setGeneric("describe", function(x, ...) standardGeneric("describe"))
setMethod("describe", "Person", function(x, ...) cat(x@name, "is", x@age, "\n"))
setClass("Student", contains = "Person", representation(school = "character"))
setMethod("describe", "Student", function(x, ...) { callNextMethod(); cat("at", x@school, "\n") })
setMethod("show", "Person",
    function(object) cat("<", class(object), " ", object@name, ">\n", sep = ""))
setMethod("+", signature("Person", "Person"), function(e1, e2) e1@age + e2@age)
s <- new("Student", name = "Ann", age = 20, school = "MIT")
s
describe(s); isVirtualClass("Person"); is(s, "Person"); s + s; existsMethod("describe", "Student")
Account <- setRefClass("Account", fields = list(total = "numeric"), methods = list(
    add = function(x) { total <<- total + x; invisible(.self) },
    show = function() cat("Account:", total, "\n")))
a <- Account$new(total = 5)
a$add(10)$add(1)
a
b <- a$copy(); b$add(1); a$total
Saver <- setRefClass("Saver", contains = "Account",
    methods = list(add = function(x) callSuper(x * 2)))
Saver$new(total = 0)$add(4)$total
print(structure(list(1), class = "thing")); format(structure(1, class = "other"))
inherits(1, "numeric")
print.thing <- function(x, ...) cat("a thing\n"); structure(list(1), class = "thing")
isVirtualClass("Person"); slotNames("Student"); showMethods("describe")
new("Person", name = "x", age = -1)
