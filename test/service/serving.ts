import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ServiceOptions } from '../../src/service/index.ts';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const SERVING = fileURLToPath(new URL('serving-process.ts', import.meta.url));

type Child = ChildProcessByStdio<Writable, Readable, null>;

interface ServingOptions extends Omit<ServiceOptions, 'clock'> {
  /** How far its clock is ahead of the real one. Without it the clock stands still. */
  readonly clockAheadMs?: number;
}

/** Starts a process that serves a store, and resolves with it and its URL. @param through a command that starts it */
export async function serve(
  options: ServingOptions,
  through: readonly string[] = [],
): Promise<{ child: Child; url: string }> {
  const command = [...through, process.execPath, '--import', TSX, SERVING, JSON.stringify(options)];
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { child, url: String(line).trim() };
}

/** Resolves with the status. */
export async function setQuantity(url: string, key: string, petId: number, quantity: number): Promise<number> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ quantity });
  const response = await fetch(`${url}/inventory/${petId}`, { method: 'PATCH', headers, body });
  await response.arrayBuffer();
  return response.status;
}
