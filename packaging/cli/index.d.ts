/** The path of the program `lazaret`. Throws an Error that says what is missing and what to do. */
export function program(): string;
