import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';

/** The project as it is published, built from the sources of now into a folder of its own. */
export interface Build {
  /** What `node` is given to run the program. */
  readonly program: string;
  /** The library's entry. */
  readonly library: string;
  /** Where an entry of a benchmark's own is. */
  entry(name: string): string;
  remove(): Promise<void>;
}

/** @param entries of the benchmark's own, by name: paths from the root. They see the same sources as the program does. */
export async function buildProject(entries: Readonly<Record<string, string>> = {}): Promise<Build> {
  // Below node_modules, so that the dependency that is not bundled is found.
  const cache = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));
  await mkdir(cache, { recursive: true });
  const outDir = await mkdtemp(join(cache, 'petstock-bench-'));
  const remove = () => rm(outDir, { recursive: true, force: true });
  // What tsup.config.ts does after a build is about what is published.
  const entry = { petstock: 'bin/petstock.ts', index: 'src/index.ts', ...entries };
  await build({ entry, outDir, dts: false, silent: true, metafile: false, onSuccess: async () => {} }).catch(
    async (error) => {
      await remove();
      throw error;
    },
  );
  const pathOf = (name: string) => join(outDir, `${name}.js`);
  return { program: pathOf('petstock'), library: pathOf('index'), entry: pathOf, remove };
}
