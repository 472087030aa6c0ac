import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root } from './commands.ts';

/**
 * Brings a package from the registry, once: it is kept below `node_modules/.cache`. For what is large and of one system, which
 * every `npm ci` would bring otherwise.
 * @param spec `@oven/bun-linux-aarch64@1.4.4`
 * @param integrity of its tarball
 * @returns its folder
 * @throws Error if the tarball is not the one that was pinned
 */
export function fetchPackage(spec: string, integrity: string): string {
  const cache = join(root, 'node_modules/.cache/packages');
  const folder = join(cache, spec.replace(/[/@]/g, '-'));
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, 'unfinished-'));
  try {
    const [{ filename }] = JSON.parse(npm(unfinished, 'pack', '--json', '--ignore-scripts', spec));
    const tarball = join(unfinished, filename.replace('@', '').replace('/', '-'));
    const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
    if (found !== integrity) throw new Error(`${spec} is not the pinned one: ${found}`);
    execFileSync('tar', ['-xzf', tarball, '-C', unfinished]);
    if (!existsSync(folder)) renameSync(join(unfinished, 'package'), folder);
    return folder;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
