// start.js - loads the parts. Its value is a function of the natives that gives `internal`.
(function (native) {
    'use strict';
    const parts = new Map();
    const apply = Reflect.apply;
    const { get, set, has } = Map.prototype;
    const { setPrototypeOf } = Object, ObjectPrototype = Object.prototype;

    // The exports of a part; a part that needs itself on the way gets what it has so far.
    function internal(name) {
        if (apply(has, parts, [name]))
            return apply(get, parts, [name]);
        const make = native.part(name);
        if (!make)
            throw new Error('lazaret has no part ' + name);
        const exports = { __proto__: null }; // code that has run may have put setters on prototypes
        apply(set, parts, [name, exports]);
        make(exports, internal, native);
        setPrototypeOf(exports, ObjectPrototype);
        return exports;
    }
    // The exports of a part that is in use, or undefined.
    internal.loaded = (name) => apply(get, parts, [name]);
    internal('run');
    internal('values');
    internal('globals');
    return internal;
})
