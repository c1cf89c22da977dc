/* SPDX-License-Identifier: MIT */
/* language.h - what is declared of a language in NAME.language.json: the form of stubs
 * of tools, the code that `lazaret doctor` tries, and the calls that get a warning.
 *
 * Each language that lazaret knows has such a file, whether or not its runtime is installed. */
#ifndef LAZ_PLUGIN_LANGUAGE_H
#define LAZ_PLUGIN_LANGUAGE_H

#include "base/buf.h"

#include <stdbool.h>

/* The form of a stub: documentation and signature of a tool. A text that is not needed is "". */
struct laz_language_stub {
    const char *null_word, *true_word, *false_word; /* NULL: the language has no stubs */
    const char *list_open, *list_close, *map_open, *map_close;
    const char *key_open, *key_close;               /* around a quoted key */
    const char *before, *after;                     /* around the documentation */
    const char *line;                               /* before each line of the description */
    const char *before_parameters;                  /* if there are any; may be NULL */
    const char *parameter_line;                     /* before each line of a parameter */
    const char *before_parameter, *after_parameter; /* around its name */
    const char *before_name, *after_name;           /* around the name of the tool */
    const char *after_arguments;                    /* what ends the signature */
    /* Of the signature, each with what stands for it where it is not declared. */
    const char *arguments_open, *arguments_close; /* around all: "(", ")" */
    const char *between_arguments;                /* ", " */
    const char *before_optional, *after_optional; /* around one that may be left out: "", "" */
    const char *before_type;                      /* ": " */
    const char *before_default;                   /* " = " */
    const char *before_bare_default;              /* of one without a type: as before_default */
    const char *before_result;                    /* its type; NULL: it is not in the signature */
    const char *after_result;                     /* "" */
    const char *optional_name; /* after the name of one that may be left out: "" */
    /* A second signature, whose arguments are members of one object; NULL: there is none. Then a
     * required one behind an optional one is declared in it alone. */
    const char *named_open, *named_close, *between_named;
    const char *returns; /* in the documentation, before what is returned: "returns " */
    /* Of values, in the same way. */
    const char *between_values;             /* ", " */
    const char *string_open, *string_close; /* "\"", "\"" */
    struct laz_strv escapes; /* pairs: a character, what stands for it in a string; none: those of
                                the quotation mark, the backslash and the newline, by a backslash */
    const char *by_name;     /* before required parameters behind optional ones; may be NULL */
    const char *together;    /* comment on how to make several calls at once; may be NULL */
    struct laz_strv types; /* pairs: a word of JSON Schema, or "any", the type; empty: no types are
                              written */
    const char *between_choices; /* values of an enumeration as a type; NULL: it is no type */
    /* Of the type of a result, which is written in full where all three are declared. */
    const char *list_type_open, *list_type_close; /* around the type of the elements */
    const char *any_key;                          /* before the type of members of any name */
    bool decimal_escapes; /* control bytes in strings are \001, not \u0001 */
    bool docstring;       /* documentation is a string literal: "\\" is escaped */
    bool defaults;        /* a signature shows defaults */
    bool signature_first; /* before the documentation */
};

/* How names, strings and comments are written: enough to tell a name from the inside of a comment.
 */
struct laz_language_lexer {
    const char *comment; /* begins a comment to the end of the line; NULL: no lexer is declared */
    const char *comment_open,
        *comment_close;             /* around one that may have several lines; both or none */
    const char *text_quotes;        /* quotes of strings that may have several lines; may be NULL */
    const char *name_characters;    /* besides letters and digits, in a name */
    struct laz_strv members;        /* member operators, longer ones first */
    struct laz_strv object_members; /* those that access a field of an object, which has no path */
    /* Strings such as r"--( )--": a letter, a quote, filling, a bracket; to the other bracket, as
     * much filling and the quote. All three or none. */
    const char *raw_letters, *raw_fill, *raw_brackets;
    const char *prefix_letters; /* up to two of them before a quote belong to the string */
    const char *long_brackets;  /* "[=]": strings, and behind `comment` comments, as [==[ ]==] */
    bool triple_quotes;         /* three quotes begin a string that three end */
    bool newlines;              /* the end of a line may end a statement */
    bool multiline_strings;     /* a string in quotes may go over several lines */
    bool single_members;        /* a doubled member operator is not one */
};

#define LAZ_LANGUAGE_CALLS 100 /* at most in a list of calls */

/* Calls that a sandbox refuses, as paths ("os.system"), by what it has to refuse for that. */
struct laz_language_patterns {
    const char *member; /* member operator in the lists; NULL: no patterns are declared */
    /* A star at the end, after three bytes or more, matches any ending. */
    struct laz_strv network, programs, terminals, privileges;
    struct laz_strv roots;       /* prefixes that do not change the meaning of a name */
    struct laz_strv by_name;     /* calls whose string argument is the name of a function */
    const char *loader;          /* a call whose string argument is one of `modules`; may be NULL */
    struct laz_strv modules;     /* modules that need the network */
    struct laz_strv definitions; /* keywords that define the name after them */
    bool by_name_member;         /* by_name: f(x, "name") means the path x.name */
    bool string_calls;           /* f "x" and f {x} are calls */
    bool string_names;           /* "f"(x) is a call */
    bool imports;                /* import a.b as c, from a import b as c */
};

/* Code that `lazaret doctor` tries in the runtime; NULL: code that most languages accept. */
struct laz_language_probe {
    const char *code, *value;  /* an expression, and its value as JSON */
    const char *call, *answer; /* lazaret_doctor_add with two integers, and their sum; NULL: code
                                  cannot call tools */
    const char *web; /* prints what a server answers at {url}, and all variables of the environment;
                        NULL: not tried */
};

/* How a language writes names that it does not have (tool/spelling.h). */
struct laz_language_names {
    const char *other;     /* in place of a character that names cannot have; NULL: not declared */
    const char *first;     /* before a name that begins with a digit, say */
    const char *after;     /* after a reserved word */
    struct laz_strv words; /* reserved ones, of a language that has no runtime to declare them */
    struct laz_strv globals; /* what code cannot do without: no tool replaces it; with `fields`
                                paths, too ("string.upper": a tool can be in `string`) */
    bool dots;               /* names may contain dots */
    bool fields;             /* a dot in the name of a tool leads to the field of a table */
    bool underscore;         /* names may begin with '_' */
};

/* Variables of [env] set that an interpreter of the language reads, and what to use in place of
 * them: pairs of a name, in which a last '*' stands for any ending, and a clause, which may be "".
 */
struct laz_language_variables {
    struct laz_strv ignored;  /* the interpreter of a session does not read them */
    struct laz_strv searched; /* lists of directories, which have to be shown */
};

struct laz_language {
    const char *name;
    const char *package; /* of Debian, which lets the runtime be built; NULL: there is no runtime */
    const char
        *note; /* for a model, behind "In NAME ": what is not as in other languages; or NULL */
    struct laz_strv packages; /* what the names of Debian's packages for the language begin with */
    struct laz_strv modules;  /* suffixes of what it loads beside source files: ".so" */
    bool encoding_comments; /* a comment in one of the first two lines of a file names its encoding
                               as "coding: NAME" */
    bool echoes;            /* its interpreter shows the values of the expressions in a file */
    bool tool_commands; /* tools are commands in it, and so they are for programs of any language,
                           by the names that they have in this one */
    bool statuses;      /* the value of code is an exit status, and one that is not 0 no error */
    bool commands; /* code is a command line, a JSON list of texts: no language that is written */
    struct laz_language_probe probe;
    struct laz_language_names names;
    struct laz_language_stub stub;
    struct laz_language_lexer lexer;
    struct laz_language_patterns patterns;
    struct laz_language_variables variables;
};

#endif
