import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { startNode, stop } from '../support/children.ts';

/** `petstock sandbox serve` in a process of its own, in memory, on free ports; it never bans. */
export interface Served {
  readonly url: string;
  readonly key: string;
  /** The requests that it has seen, oldest first. */
  journal(): Promise<readonly { readonly method: string; readonly status: number | null }[]>;
  /** The whole stock, once the limit lets it be read. */
  stock(): Promise<ReadonlyMap<string, number>>;
  stop(): Promise<void>;
}

export interface ServeOptions {
  readonly program: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly pets: number;
}

export async function serve({ program, limit, windowMs, pets }: ServeOptions): Promise<Served> {
  const home = mkdtempSync(join(tmpdir(), 'petstock-bench-'));
  const numbers = { 'limit-minute': limit, 'limit-day': 1_000_000_000, 'window-seconds': windowMs / 1000, pets };
  const options = Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const standard = 'sandbox serve --port 0 --admin-port 0 --test-controls --file :memory: --no-ban --json'.split(' ');
  const child = startNode([program, ...standard, ...options], {
    PETSTOCK_CONFIG_DIR: join(home, 'config'),
    PETSTOCK_STATE_DIR: join(home, 'state'),
  });
  const end = async () => {
    await stop(child);
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  };
  const complaints: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  const line = await firstLine(child).catch(async (cause) => {
    await end();
    throw new Error(`the service does not start: ${complaints.join('').trim()}`, { cause });
  });
  const parts = JSON.parse(line) as Record<'url' | 'key' | 'admin' | 'adminToken', string>;
  const { url, key, admin, adminToken } = parts;
  const headers = { Authorization: `Bearer ${adminToken}` };
  return {
    url,
    key,
    journal: async () => (await fetch(`${admin}/journal`, { headers })).json() as ReturnType<Served['journal']>,
    stock: () => readStock(url, key),
    stop: end,
  };
}

/** @throws when it ends without one, or takes too long */
async function firstLine(child: ChildProcess): Promise<string> {
  const signal = AbortSignal.timeout(20_000);
  const lines = createInterface(child.stdout ?? Readable.from([]));
  const [line] = await Promise.race([once(lines, 'line', { signal }), once(child, 'exit', { signal })]);
  if (typeof line !== 'string') throw new Error(`it ended with ${line}`);
  return line;
}

/** Ids as text, since half of them are no exact numbers of JavaScript. */
async function readStock(url: string, key: string): Promise<ReadonlyMap<string, number>> {
  for (let tries = 0; tries < 5; tries += 1) {
    const response = await fetch(`${url}/inventory`, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    if (response.ok) {
      const items = text.matchAll(/"petId":(\d+)[^}]*"quantity":(-?\d+)/g);
      return new Map(Array.from(items, ([, petId = '', quantity]) => [petId, Number(quantity)]));
    }
    await delay(Number(response.headers.get('retry-after') ?? 1) * 1000);
  }
  throw new Error('the stock could not be read');
}
