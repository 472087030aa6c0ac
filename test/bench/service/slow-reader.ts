import { get, type IncomingMessage } from 'node:http';

/** A list of the inventory whose reader has taken the beginning and then stopped. */
export interface SlowReader {
  /** Reads the rest, and resolves with the size of all of it in bytes. */
  finish(): Promise<number>;
}

/** Asks for the inventory, and stops reading as soon as it begins to come. */
export function startSlowReader(url: string, key: string): Promise<SlowReader> {
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
