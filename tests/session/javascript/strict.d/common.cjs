exports.two = 2;
