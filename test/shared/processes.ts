import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Runs a script beside this one in several processes, which begin at once. @returns what each has printed */
export async function atOnce(script: string, count: number, ...args: readonly string[]): Promise<readonly string[]> {
  const words = ['--import', 'tsx', fileURLToPath(new URL(script, import.meta.url)), ...args];
  const children = Array.from({ length: count }, () => spawn(process.execPath, words));
  const printed = children.map((child) => text(child.stdout));
  await Promise.all(children.map((child) => once(child.stderr, 'data')));
  for (const child of children) child.stdin.end();
  return Promise.all(printed);
}
