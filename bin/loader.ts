import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import type { CodeCache } from './code-cache.ts';

type Require = (name: string) => unknown;
type Define = (exports: object, require: Require, module: { exports: object }) => void;
/** A module of the build: the names of its exports, with blanks between them, and its code. */
type Module = readonly [exported: string, define: Define];
/** The modules of a script of the build (`.ci/bundle.ts`), by name. */
type Modules = Readonly<Record<string, Module>>;

/**
 * Returns a function that loads a module of the program by its name, `./program.cjs`, with the script that it is in. What that
 * imports is evaluated once something of it is used: half of what a command names it never comes to.
 * @param folder of the scripts
 * @param requireElse loads whatever is not in a script
 */
export function createLoader(folder: string, requireElse: Require, cache: CodeCache | undefined): Require {
  const scripts: Modules[] = [];
  const evaluated = new Map<string, { exports: object }>();
  const namespaces = new Map<string, object>();
  const moduleOf = (name: string): Module => {
    const script = scripts.find((each) => name in each) ?? addScript(join(folder, name));
    return script[name] as Module;
  };
  const evaluate = (name: string): object => {
    const known = evaluated.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    evaluated.set(name, module);
    moduleOf(name)[1](module.exports, require, module);
    return module.exports;
  };
  const require = (name: string): unknown => {
    if (!name.startsWith('./')) return requireElse(name);
    const namespace = namespaces.get(name) ?? namespaceOf(moduleOf(name)[0], () => evaluate(name));
    namespaces.set(name, namespace);
    return namespace;
  };
  const addScript = (filename: string): Modules => {
    // The build escapes what is not ASCII; to read it so is quicker.
    const source = readFileSync(filename, 'latin1');
    const script = cache?.compile(filename, source) ?? new Script(source, { filename });
    const modules: Modules = script.runInThisContext()(filename);
    scripts.push(modules);
    return modules;
  };
  return evaluate;
}

/** Returns an object with the exports of a module, which the first use of one of them evaluates. */
function namespaceOf(exported: string, evaluate: () => object): object {
  const namespace = Object.defineProperty({}, '__esModule', { value: true });
  const use = (name: string): unknown => {
    const exports = evaluate();
    // From now on its own getters, which show each value as it is.
    Object.defineProperties(namespace, Object.getOwnPropertyDescriptors(exports));
    return exports[name as keyof typeof exports];
  };
  for (const name of exported.split(' ')) {
    Object.defineProperty(namespace, name, { enumerable: true, configurable: true, get: () => use(name) });
  }
  return namespace;
}
