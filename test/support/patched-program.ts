import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import { root } from '../../.ci/commands.ts';

/** A change of the source: in this file, the first text becomes the second. */
export interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Builds the program from its sources, with changes that break it. The sources stay as they are; the build is removed
 * when the test is finished.
 * @returns the path of the script
 */
export async function patchedProgram(patches: readonly Patch[]): Promise<string> {
  // Packages are loaded from node_modules, so the script has to be below the root folder.
  const caches = join(root, 'node_modules/.cache');
  mkdirSync(caches, { recursive: true });
  const outdir = mkdtempSync(join(caches, 'petstock-patched-'));
  onTestFinished(() => rmSync(outdir, { recursive: true, force: true }));
  const left = new Set(patches);
  const { build } = await import('esbuild');
  await build({
    entryPoints: [join(root, 'bin/petstock.ts')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    outExtension: { '.js': '.mjs' },
    logLevel: 'error',
    plugins: [
      {
        name: 'patches',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            let contents = readFileSync(path, 'utf8');
            for (const patch of patches) {
              if (patch.file !== relative(root, path)) continue;
              if (!contents.includes(patch.from)) throw new Error(`${patch.file} has no ${patch.from}`);
              contents = contents.replace(patch.from, patch.to);
              left.delete(patch);
            }
            return { contents, loader: 'ts' };
          }),
      },
    ],
  });
  if (left.size > 0) throw new Error('a file that is to be patched is not part of the program');
  return join(outdir, 'petstock.mjs');
}
