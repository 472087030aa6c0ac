import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';
import { temporaryFolder } from './folders.ts';

/** The project as it is published, built from the sources of now into a folder of its own. */
export interface Build {
  /** What `node` is given to run the program. */
  readonly program: string;
  /** The library's entry. */
  readonly library: string;
  /** Where an entry of a benchmark's own is. */
  entry(name: string): string;
  remove(): void;
}

/** @param entries of the benchmark's own, by name: paths from the root. They see the same sources as the program does. */
export async function buildProject(entries: Readonly<Record<string, string>> = {}): Promise<Build> {
  // Below node_modules, so that the dependency that is not bundled is found.
  const cache = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));
  mkdirSync(cache, { recursive: true });
  const { path: outDir, remove } = temporaryFolder(cache);
  const own = join(outDir, 'bench');
  try {
    await build({ outDir, dts: false, silent: true });
    // On their own, since an entry more would change how the program is split.
    if (Object.keys(entries).length > 0) await buildOwn({ ...entries }, own);
  } catch (error) {
    remove();
    throw error;
  }
  return {
    program: join(outDir, 'petstock.cjs'),
    library: join(outDir, 'index.js'),
    entry: (name) => join(own, `${name}.js`),
    remove,
  };
}

async function buildOwn(entry: Record<string, string>, outDir: string): Promise<void> {
  await build({
    config: false,
    entry,
    outDir,
    silent: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    noExternal: [/^(?!@photostructure\/sqlite$)/],
    removeNodeProtocol: false,
    banner: {
      js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
    },
  });
}
