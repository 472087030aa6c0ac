import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import type { CodeCache } from './code-cache.ts';

/** @param isImported by an `import` that may name `default` */
type Require = (name: string, isImported?: number) => unknown;
/** The code of a module of the build. It begins by telling what has its exports, as getters. */
type Code = (expose: (exports: object) => void, require: Require) => void;
/** A script of the build (`.ci/bundle.ts`): defines its modules, by name. */
type Run = (filename: string, define: (name: string, code: Code) => void) => void;

/**
 * Returns a function that loads a module of the program by its name, `./program.cjs`, with the script that it is in. What that
 * imports is evaluated once something of it is used: half of what a command names it never comes to.
 * @param folder of the scripts
 * @param requireElse loads whatever is not in a script
 */
export function createLoader(folder: string, requireElse: (name: string) => object, cache?: CodeCache): Require {
  const defined = new Map<string, Code>();
  const modules = new Map<string, object>();
  const codeOf = (name: string): Code => {
    if (!defined.has(name)) runScript(join(folder, name));
    return defined.get(name) as Code;
  };
  const runScript = (filename: string): void => {
    // The build escapes what is not ASCII; to read it so is quicker.
    const source = readFileSync(filename, 'latin1');
    const script = cache?.compile(filename, source) ?? new Script(source, { filename });
    (script.runInThisContext() as Run)(filename, (name, code) => defined.set(name, code));
  };
  const require: Require = (name, isImported) => {
    if (name.startsWith('./')) return modules.get(name) ?? late(name);
    const module = requireElse(name);
    return isImported ? Object.create(module, { default: { value: module } }) : module;
  };
  /** Returns a module whose prototype, once something of it is asked for, is its exports. */
  const late = (name: string): object => {
    const evaluate = (_: object, asked: string | symbol): unknown => {
      Object.setPrototypeOf(module, null);
      codeOf(name)((exports) => Object.setPrototypeOf(module, exports), require);
      return module[asked];
    };
    const module = Object.create(new Proxy({}, { get: evaluate }));
    modules.set(name, module);
    return module;
  };
  return require;
}
