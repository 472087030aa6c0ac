import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ServiceOptions } from '../../src/service/index.ts';
import { clientOf } from './support.ts';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const SERVING = fileURLToPath(new URL('serving-process.ts', import.meta.url));

type Child = ChildProcessByStdio<Writable, Readable, null>;

interface ServingOptions extends Omit<ServiceOptions, 'clock'> {
  /** How far the service's clock is ahead of the real one; absent: it stands still. */
  readonly clockAheadMs?: number;
}

/** Starts a process that serves a store with a key. @returns it, and how to ask it */
export async function serve(options: ServingOptions & { readonly key: string }) {
  const args = ['--import', TSX, SERVING, JSON.stringify(options)];
  const child: Child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const served = { url: String(line).trim(), key: options.key };
  const client = clientOf(served);
  return {
    child,
    ...served,
    ...client,
    /** @returns the status */
    set: async (petId: number, quantity: number) =>
      (await client.patch(`/inventory/${petId}`, JSON.stringify({ quantity }))).status,
  };
}
