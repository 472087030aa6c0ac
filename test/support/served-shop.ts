import { join } from 'node:path';
import type { RunResult } from './context.ts';
import type { Shop, ShopRunOptions } from './shop.ts';

/** The line that `sandbox serve --json` prints. */
export interface ServeLine {
  readonly url: string;
  readonly key: string;
}

/** Returns the environment with which commands use the served sandbox. */
export function envOf({ url, key }: ServeLine) {
  return { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key };
}

/**
 * Runs `sandbox serve` in process until `use` has resolved, then presses Ctrl-C.
 * @throws whatever `use` throws
 */
export async function served(
  shop: Shop,
  options: string | readonly string[],
  use: (line: ServeLine) => Promise<void> = async () => {},
  run: ShopRunOptions = {},
): Promise<RunResult> {
  const words = typeof options === 'string' ? options.split(' ').filter((word) => word !== '') : options;
  const interrupt = new AbortController();
  const failures: unknown[] = [];
  const result = await shop.run(['sandbox', 'serve', '--port', '0', '--json', ...words], {
    ...run,
    interrupted: interrupt.signal,
    onStdout: (line) =>
      void use(JSON.parse(line))
        .catch((error: unknown) => failures.push(error))
        .finally(() => interrupt.abort()),
  });
  if (failures.length > 0) throw failures[0];
  return result;
}

export async function get(url: string, key: string, path = '/inventory') {
  const response = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${key}` } });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** Returns the folder that contains the shop's configuration and state folders. */
export function folderOf(shop: Shop): string {
  return join(shop.folders.config, '..');
}
