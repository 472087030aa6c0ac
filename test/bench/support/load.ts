import { get, type IncomingMessage } from 'node:http';
import { Pool } from 'undici';

export interface Target {
  readonly url: string;
  readonly key: string;
}

type Load = { readonly seconds: number; readonly connections: number };

/**
 * Sends requests for some seconds over this many connections to each target, one request at a time on each connection.
 * @param path a path to GET, or `PATCH` and a path
 * @returns the number of responses
 * @throws Error if the status of a response is not 200
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
 * Reads the inventories of all targets at once. Meanwhile, a slow reader of the first target has only read the start.
 * @param meanwhile runs after that, before the slow reader continues
 * @returns how long the inventories took in seconds, and the sizes in bytes of all that were read
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

/** Requests the inventory. Resolves with the response, whose body is still unread, as soon as its head has come. */
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
