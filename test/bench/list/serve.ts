import { fileURLToPath } from 'node:url';
import { firstLine, start, stop } from '../support/children.ts';
import type { ServerOptions } from './server.ts';

/** Starts `server.ts` in a process of its own. Returns the address and the size of each list. */
export async function serveLists(options: ServerOptions) {
  const script = fileURLToPath(new URL('server.ts', import.meta.url));
  const child = start(process.execPath, ['--import', 'tsx', script, JSON.stringify(options)]);
  const { urls, bytes } = JSON.parse(await firstLine(child, 120)) as {
    urls: readonly string[];
    bytes: readonly number[];
  };
  return { urls, bytes, stop: () => stop(child) };
}
