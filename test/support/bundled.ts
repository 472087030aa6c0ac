import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { root } from '../../.ci/commands.ts';

/**
 * Bundles a module for the processes that a test starts, because with tsx each process takes half a second more of CPU.
 * The bundle is removed when the test is finished.
 * @param module the path of its file below the root folder, such as `src/shared/private-files.ts`
 * @returns the path of the script
 */
export async function bundled(module: string): Promise<string> {
  // Packages are loaded from node_modules, so the script has to be below the root folder.
  const caches = join(root, 'node_modules/.cache');
  mkdirSync(caches, { recursive: true });
  const outDir = mkdtempSync(join(caches, 'petstock-bundled-'));
  onTestFinished(() => rmSync(outDir, { recursive: true, force: true }));
  // Imported here, because only few tests need tsup, and loading it takes as long as everything else in their files.
  const { build } = await import('tsup');
  await build({ config: false, entry: [join(root, module)], outDir, format: 'esm', dts: false, silent: true });
  return join(outDir, basename(module).replace('.ts', '.js'));
}
