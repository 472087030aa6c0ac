import { get, type IncomingMessage } from 'node:http';
import { Pool } from 'undici';

/** Where a load goes. */
export interface Target {
  readonly url: string;
  readonly key: string;
}

/**
 * Sends requests over so many connections to each target, one after the other on each, for some seconds. Returns how many were
 * answered. @throws Error if one was refused
 */
export async function load(
  targets: readonly Target[],
  path: string,
  options: { seconds: number; connections: number },
) {
  const ends = performance.now() + options.seconds * 1000;
  const pools = targets.map(({ url }) => new Pool(new URL(url).origin, { connections: options.connections }));
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
  const workers = pools.flatMap((pool, index) =>
    Array.from({ length: options.connections }, () => work(pool, targets[index] as Target)),
  );
  await Promise.all(workers);
  await Promise.all(pools.map((pool) => pool.close()));
  return sent;
}

/** A list of the inventory whose reader has taken the beginning and then stopped. */
export interface SlowReader {
  /** Reads the rest, and resolves with the size of all of it in bytes. */
  finish(): Promise<number>;
}

/** Asks for the inventory, and stops reading as soon as it begins to come. */
export function startSlowReader({ url, key }: Target): Promise<SlowReader> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}` };
    get(`${url}/inventory`, { headers, agent: false }, (response) => {
      response.pause();
      resolve({ finish: () => rest(response) });
    }).on('error', reject);
  });
}

async function rest(response: IncomingMessage): Promise<number> {
  let size = 0;
  for await (const chunk of response) size += chunk.length;
  return size;
}
