import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The built program: a script for `node`, or an executable. */
    readonly program: string;
  }
}

/**
 * Builds the program for the tests that spawn it, into a folder of this run alone, so that it is never stale, and a
 * build into `dist` by `npm ci` or `npx petstock` at the same time can't disturb it. Without the declarations, the
 * build takes half a second. `PETSTOCK_PROGRAM` names another program to test: an older one, an installed one, or the
 * build that CI has just made.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.PETSTOCK_PROGRAM;
  if (given !== undefined && given !== '') {
    project.provide('program', resolve(given));
    return undefined;
  }
  // Nothing else reads this folder.
  const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
  await mkdir(cache, { recursive: true });
  const outDir = await mkdtemp(join(cache, 'petstock-e2e-'));
  await build({ outDir, dts: false, silent: true });
  project.provide('program', join(outDir, 'petstock.cjs'));
  return () => rm(outDir, { recursive: true, force: true });
}
