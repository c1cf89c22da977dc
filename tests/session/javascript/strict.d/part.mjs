export const isStrict = (function () { return this === undefined })();
