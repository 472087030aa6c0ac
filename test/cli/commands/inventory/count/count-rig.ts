import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { withReport } from '../../../../support/changes.ts';
import type { Shop, ShopRunOptions } from '../../../../support/shop.ts';

/** Counts what is given as lines, off a terminal. */
export async function count(shop: Shop, lines: string, args = '--yes --json', options: ShopRunOptions = {}) {
  const words = args === '' ? [] : args.split(' ');
  const result = await shop.run(['inventory', 'count', ...words], { stdin: lines, ...options });
  return withReport(result.stdout.startsWith('{') ? result : { ...result, stdout: '' });
}

/** A person at a terminal of 80 columns, who says yes. */
export const person: ShopRunOptions = {
  terminal: 80,
  env: { NO_COLOR: '1' },
  prompts: { confirm: async () => true, text: async () => 'production' },
};

/** The only session of the shop, by its last four characters. */
export function sessionIn(shop: Shop): string {
  const [name = ''] = readdirSync(join(shop.folders.state, 'counts'));
  return name.slice(-10).replace(/^.*-/, '').slice(0, 4);
}

export const writes = (result: Awaited<ReturnType<typeof count>>) =>
  result.requests.filter(({ method }) => method === 'PATCH').map(({ path, body }) => `${path.slice(14)} ${body}`);
