# SPDX-License-Identifier: MIT
# Commands: programs with their arguments, in sessions of the runtimes shell and program.
#
# A shell gets words that are quoted, so that no character of an argument, and no alias or keyword,
# has a meaning. The runtime program takes a list of words, and starts the program itself.

quote_word <- function(text) paste0("'", gsub("'", "'\\''", text, fixed = TRUE), "'")

command_text <- function(text, name) {
    text <- enc2utf8(text)
    if (!all(validUTF8(text)))
        fail_argument("`", name, "` has what is not a valid text")
    text
}

# What a shell does before the command, so that it finds this directory and these variables.
command_steps <- function(cwd, env) {
    if (!is.null(cwd) && (!is_text(cwd) || !nzchar(cwd)))
        fail_argument("`cwd` must be the name of a directory, or NULL")
    # With "./" it is neither an option, nor "-", nor looked for in CDPATH.
    step <- if (!is.null(cwd)) {
        cwd <- command_text(cwd, "cwd")
        paste0("cd ", quote_word(if (startsWith(cwd, "/")) cwd else paste0("./", cwd)))
    }
    env <- unlist(env)
    if (is.null(env))
        return(step)
    names <- names(env)
    if (!is.character(env) || anyNA(env) || is.null(names) ||
        !all(grepl("^[A-Za-z_][A-Za-z0-9_]*$", names)))
        fail_argument("`env` must be texts with the names of variables as names")
    c(step, paste0("export ", names, "=", quote_word(command_text(unname(env), "env"))))
}

# The code that runs a command in a session of this runtime.
command_code <- function(runtime, args, cwd, env) {
    if (!runtime %in% c("shell", "program")) {
        fail_argument("a command needs a session of the runtime 'shell' or 'program', and this one ",
                      "is of '", runtime, "'")
    }
    if (!is.character(args) || !length(args) || anyNA(args))
        fail_argument("a command is a vector of words: c(\"ls\", \"-l\")")
    words <- command_text(unname(args), "args")
    steps <- command_steps(cwd, env)
    if (runtime == "shell") {
        line <- paste(c(steps, paste(quote_word(words), collapse = " ")), collapse = " && ")
        return(if (length(steps)) paste0("(", line, ")") else line)
    }
    if (length(steps))
        words <- c("sh", "-c", paste(c(steps, "exec \"$@\""), collapse = " && "), "sh", words)
    json_array(vapply(words, json_text, "", USE.NAMES = FALSE))
}

session_run <- function(state, args, input, timeout, cwd, env, check) {
    if (!is_flag(check))
        fail_argument("`check` must be TRUE or FALSE")
    result <- session_execute(state, command_code(state$runtime, args, cwd, env), timeout, TRUE,
                              NULL, NULL, NULL, NULL, NULL, TRUE, NULL, TRUE, list(), FALSE, input)
    if (result$verdict != "ok")
        stop(error_of_result(result))
    status <- result$evidence$exit_status
    if (!is_count(status))
        fail("lazaret_worker_lost", "the sandbox has given no status of the command",
             result = result)
    if (check && status != 0) {
        fail("lazaret_command_failed", paste0("the command '", args[1L], "' has ended with status ",
                                              status), result = result, status = status)
    }
    list(args = args, status = as.integer(status), stdout = result$stdout, stderr = result$stderr,
         truncated = result$truncated, result = result)
}
