import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ServerOptions } from '../list/server.ts';
import { firstLine, start, stop, temporaryFolder } from './children.ts';

/** A process that runs `petstock sandbox serve` on a free port and without bans. */
export interface Served {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  /** Returns the whole stock by pet id, after waiting for the rate limit if necessary. */
  stock(): Promise<ReadonlyMap<string, number>>;
  stop(): Promise<void>;
}

interface ServeOptions {
  readonly program: string;
  readonly pets: number;
  /** The number of requests in a window; default: 100 million. */
  readonly limit?: number;
  readonly windowMs?: number;
  /** The options for where the stock is kept; default: in memory. */
  readonly store?: readonly string[];
}

export async function serve(options: ServeOptions): Promise<Served> {
  const { program, pets, limit = 100_000_000, windowMs = 60_000, store = ['--file', ':memory:'] } = options;
  const numbers = { 'limit-minute': limit, 'limit-day': 1_000_000_000, 'window-seconds': windowMs / 1000, pets };
  const more = Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const standard = 'sandbox serve --port 0 --no-ban --json'.split(' ');
  const child = start(process.execPath, [program, ...standard, ...store, ...more], foldersIn(temporaryFolder()));
  const { url, key } = JSON.parse(await firstLine(child, 120));
  return {
    url,
    key,
    pid: child.pid ?? 0,
    stock: () => readStock(url, key),
    stop: () => stop(child),
  };
}

/** Starts `list/server.ts` in a process of its own. Returns the URL of each list. */
export async function serveLists(options: ServerOptions) {
  const script = fileURLToPath(new URL('../list/server.ts', import.meta.url));
  const child = start(process.execPath, ['--import', 'tsx', script, JSON.stringify(options)]);
  const { urls } = JSON.parse(await firstLine(child, 120)) as { urls: string[] };
  return { urls, stop: () => stop(child) };
}

/** Returns the variables with which the program uses a service, and keeps its files in `folder`. */
export function settingsFor({ url, key }: { readonly url: string; readonly key: string }, folder: string) {
  return {
    PETSTOCK_URL_STAGING: url,
    PETSTOCK_API_KEY_STAGING: key,
    ...foldersIn(folder),
  };
}

function foldersIn(folder: string) {
  return {
    PETSTOCK_CONFIG_DIR: join(folder, 'config'),
    PETSTOCK_STATE_DIR: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
  };
}

/** Returns the most memory that a process has used so far, in MB. Needs Linux. */
export function peakMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Returns the CPU time that a process has used so far, in seconds. Linux counts it in hundredths of a second. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Returns ids as text, since half of them are not exact as JavaScript numbers. */
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
