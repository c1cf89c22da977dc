// typescript.js - takes the types off TypeScript, by a library that a build may be without.
exports.strip = function (source, fileName, keepImports) {
    const { strip } = internal('sucrase');
    if (!strip)
        throw new SyntaxError('TypeScript cannot be run: lazaret was built without sucrase, which takes the types off it; ' +
            'before the next build, scripts/javascript-libraries gets it');
    return strip(source, { fileName, keepImports });
};
