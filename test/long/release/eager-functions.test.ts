import { runInNewContext, Script } from 'node:vm';
import { expect, test } from 'vitest';
import { eagerFunctions } from '../../../.ci/eager-functions.ts';

/** A body that takes some room once it is compiled. */
const body = Array.from({ length: 50 }, (_line, at) => `console.log("line ${at}", a, b);`).join('\n');

const wrap = (code: string) => `(function (exports, require, module) {${code}\n})`;

/** What V8 has compiled of a file that was loaded, and of which nothing was called yet: bytes. */
function compiled(code: string): number {
  return new Script(wrap(code)).createCachedData().length;
}

test.each([
  ['a function', `"use strict";\nfunction f(a, b) {\n${body}\n}\n`],
  ['an async function', `async function f(a, b) {\n${body}\n}\n`],
  ['a generator', `async function* f(a, b) {\n${body}\n}\n`],
])('V8 compiles %s together with its file', (_what, code) => {
  expect(compiled(eagerFunctions(code))).toBeGreaterThan(compiled(code) + 1000);
});

test('V8 compiles a module that esbuild wraps together with its file', () => {
  const code = `var require_it = __commonJS({\n"it.js"(a, b) {\n${body}\n}\n});\n`;
  const called = (text: string) => compiled(`const __commonJS = (modules) => modules;\n${text}`);
  expect(called(eagerFunctions(code))).toBeGreaterThan(called(code) + 1000);
});

test.each([
  ['a call before the declaration', 'seen.push(f(2)); function f(a) { return a * 2; }'],
  [
    'two that call each other',
    'function even(n) { return n === 0 || odd(n - 1); } function odd(n) { return n > 0 && even(n - 1); } seen.push(even(7));',
  ],
  ['its own name', 'function f() { return f.name; } seen.push(f(), f.length, typeof f.prototype);'],
  ['a variable that it sets anew', 'function f() { f = () => 2; return 1; } seen.push(f(), f());'],
  ['a generator', 'seen.push(...g()); function* g() { yield 1; yield* [2, 3]; }'],
  ['a directive', '"use strict"; function f() { return this === undefined; } seen.push(f());'],
  [
    'text that looks like one',
    'const text = "function f() {"; /* function g() {} */ seen.push(text); function $f() {} seen.push($f.name);',
  ],
  [
    'what a file exports at its beginning',
    'var all = { get f() { return f; } }; seen.push(all.f()); function f() { return 1; }',
  ],
  [
    'a wrapped module',
    'var __commonJS = (m) => () => { const e = {}; Object.values(m)[0](e, { exports: e }); return e; }; var require_it = __commonJS({ "it.js"(exports, module) { exports.a = typeof module; } }); seen.push(require_it().a);',
  ],
])('%s means the same', (_what, code) => {
  const run = (text: string) => {
    const seen: unknown[] = [];
    runInNewContext(wrap(text), { seen })();
    return seen;
  };
  const seen = run(eagerFunctions(code));
  expect(seen.length).toBeGreaterThan(0);
  expect(seen).toEqual(run(code));
});
