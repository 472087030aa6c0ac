import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The script of the built program. */
    readonly program: string;
    /** The folder in which all programs of this run keep their compiled code. */
    readonly cache: string;
  }
}

/**
 * Builds the program for the tests that spawn it, into a folder of this run alone. So it is never stale, and a build
 * into `dist` at the same time can't disturb it. Beside it is the cache of its compiled code, which halves the CPU of a
 * start. `PETSTOCK_PROGRAM` is the path of another program to test: an older one, an installed one, or the build that
 * CI has just made.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const caches = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
  await mkdir(caches, { recursive: true });
  const folder = await mkdtemp(join(caches, 'petstock-e2e-'));
  // Some tests run the program as another user.
  await chmod(folder, 0o755);
  project.provide('cache', join(folder, 'cache'));
  const given = process.env.PETSTOCK_PROGRAM ?? '';
  const outDir = join(folder, 'program');
  if (given === '') await build({ outDir, silent: true });
  project.provide('program', given === '' ? join(outDir, 'petstock.cjs') : resolve(given));
  return () => rm(folder, { recursive: true, force: true });
}
