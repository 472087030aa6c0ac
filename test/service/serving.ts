import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { ServiceOptions } from '../../src/service/index.ts';
import { bundled } from '../support/bundled.ts';
import { clientOf } from './support.ts';

type Child = ChildProcessByStdio<Writable, Readable, null>;

interface ServingOptions extends Omit<ServiceOptions, 'clock'> {
  /** Milliseconds by which the service's clock is ahead of the real one. If undefined, its clock stands still. */
  readonly clockAheadMs?: number;
}

/** Prepares a test that serves stores. @returns a function that serves one */
export async function prepareServing() {
  const script = await bundled('test/service/serving-process.ts');
  return (options: ServingOptions & { readonly key: string }) => serve(script, options);
}

/** Starts a process that serves a store with a key. @returns the process, and functions that send requests to it */
async function serve(script: string, options: ServingOptions & { readonly key: string }) {
  const args = [script, JSON.stringify(options)];
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
