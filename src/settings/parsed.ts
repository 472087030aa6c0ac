/** What reading a text gave: a value, or why not, in words that say what to do. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: string };
