import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import type { CodeCache } from './code-cache.ts';

type Require = (name: string) => unknown;
type Define = (exports: object, require: Require, module: { exports: object }) => void;
/** What a script of the build comes to (`.ci/bundle.ts`): its modules, by name. */
type Modules = Readonly<Record<string, Define>>;

/**
 * Returns a function that loads a module of the program by its name, `./program.cjs`, with the script that it is in.
 * @param folder of the scripts
 * @param requireElse loads whatever is not in a script
 */
export function createLoader(folder: string, requireElse: Require, cache: CodeCache | undefined): Require {
  const defined = new Map<string, Define>();
  const loaded = new Map<string, { exports: object }>();
  const load = (name: string): unknown => {
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    if (!name.startsWith('./')) return requireElse(name);
    if (!defined.has(name)) addScript(join(folder, name));
    const module = { exports: {} };
    loaded.set(name, module);
    defined.get(name)?.(module.exports, load, module);
    return module.exports;
  };
  const addScript = (filename: string) => {
    // The build escapes what is not ASCII; to read it so is quicker.
    const source = readFileSync(filename, 'latin1');
    const script = cache?.compile(filename, source) ?? new Script(source, { filename });
    const modules: Modules = script.runInThisContext()(filename);
    for (const name of Object.keys(modules)) defined.set(name, modules[name] as Define);
  };
  return load;
}
