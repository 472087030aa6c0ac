import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { npm } from '../../.ci/commands.ts';
import { manifest, repository } from './installation.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of the package as it is published. */
    readonly tarball: string;
  }
}

/** Packs `dist` as it is. Builds it first if there is no build. */
export default function setup(project: TestProject): void {
  if (!existsSync(join(repository, 'dist/index.d.ts'))) npm(repository, 'run', 'build');
  npm(repository, 'run', '--silent', 'build:package');
  project.provide('tarball', join(repository, 'dist/packages', `petstock-${manifest.version}.tgz`));
}
