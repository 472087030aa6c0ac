import { join } from 'node:path';
import { type Shop, type ShopRunOptions, withReport } from '../../../../support/shop.ts';

/** Runs `inventory count` with these lines on stdin. @returns what `withReport` does, and `written`: `['4 {"quantity":2}']` */
export async function count(
  shop: Shop,
  lines: string,
  args: string | readonly string[] = '--yes --json',
  options: ShopRunOptions = {},
) {
  const words = typeof args === 'string' ? args.split(' ').filter((word) => word !== '') : args;
  const result = await shop.run(['inventory', 'count', ...words], { stdin: lines, ...options });
  const patches = result.requests.filter(({ method }) => method === 'PATCH');
  const written = patches.map(({ path, body }) => `${path.slice(14)} ${body}`);
  return { ...withReport(result.stdout.startsWith('{') ? result : { ...result, stdout: '' }), written };
}

/** Options of a terminal of 80 columns at which every question is answered yes. */
export const person: ShopRunOptions = {
  terminal: 80,
  env: { NO_COLOR: '1' },
  prompts: { confirm: async () => true },
};

/** Returns the path of a file of scans of a shop. */
export function scanFile({ folders }: Pick<Shop, 'folders'>, name = 'scans.txt'): string {
  return join(folders.state, '..', name);
}
