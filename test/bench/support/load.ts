import { get, type IncomingMessage } from 'node:http';
import { Pool } from 'undici';

/** Where a load goes. */
export interface Target {
  readonly url: string;
  readonly key: string;
}

type Load = { readonly seconds: number; readonly connections: number };

/**
 * Sends requests over so many connections to each target, one after the other on each, for some seconds. Returns how many were
 * answered. @throws Error if one was refused
 */
export async function load(targets: readonly Target[], path: string, { seconds, connections }: Load): Promise<number> {
  const ends = performance.now() + seconds * 1000;
  let sent = 0;
  const work = async (pool: Pool, { url, key }: Target) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const isPatch = path.startsWith('PATCH ');
    const to = new URL(url).pathname.replace(/\/$/, '') + path.replace('PATCH ', '');
    while (performance.now() < ends) {
      sent += 1;
      const change = isPatch ? ({ method: 'PATCH', body: `{"quantity":${sent % 100_000}}` } as const) : undefined;
      const { statusCode, body } = await pool.request({ path: to, method: 'GET', headers, ...change });
      if (statusCode !== 200) throw new Error(`${path} was answered with ${statusCode}`);
      await body.dump();
    }
  };
  const all = targets.map(async (target) => {
    const pool = new Pool(new URL(target.url).origin, { connections });
    await Promise.all(Array.from({ length: connections }, () => work(pool, target)));
    await pool.close();
  });
  await Promise.all(all);
  return sent;
}

/**
 * Reads the inventory of each target at once, while another reader of the first has taken the beginning and stopped until they are done.
 * @param meanwhile goes on while the reader has stopped and after the lists were read
 */
export async function readLists(targets: readonly Target[], meanwhile: () => Promise<unknown> = async () => {}) {
  const [slow] = await Promise.all(targets.slice(0, 1).map(inventory));
  const began = performance.now();
  const sizes = await Promise.all(targets.map(readList));
  const seconds = (performance.now() - began) / 1000;
  await meanwhile();
  if (slow !== undefined) sizes.push(await sizeOf(slow));
  return { seconds, sizes };
}

/** Returns the size of the inventory in bytes. */
export async function readList(target: Target): Promise<number> {
  return sizeOf(await inventory(target));
}

/** Asks for the inventory. Resolves with the answer, which is not read, as soon as it begins to come. */
function inventory({ url, key }: Target): Promise<IncomingMessage> {
  const headers = { Authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    get(`${url}/inventory`, { headers, agent: false }, resolve).on('error', reject);
  });
}

async function sizeOf(response: IncomingMessage): Promise<number> {
  let size = 0;
  for await (const chunk of response) size += chunk.length;
  return size;
}
