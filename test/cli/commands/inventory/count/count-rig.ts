import { type Shop, type ShopRunOptions, withReport } from '../../../../support/shop.ts';

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

/** The only session of the shop that is not discarded, by its last four characters. */
export async function sessionIn(shop: Shop): Promise<string> {
  const [name = ''] = await sessionsIn(shop);
  return name;
}

/** The sessions of the shop by their last four characters, the oldest first. */
export async function sessionsIn(shop: Shop): Promise<string[]> {
  const listed: { session: string }[] = JSON.parse((await shop.run('inventory count --list --json')).stdout);
  return listed.map(({ session }) => session.slice(-4)).reverse();
}

/** The states of all sessions of the shop, in order. */
export async function statesIn(shop: Shop): Promise<string[]> {
  const listed: { state: string }[] = JSON.parse((await shop.run('inventory count --list --json')).stdout);
  return listed.map(({ state }) => state).sort();
}

export const writes = (result: Awaited<ReturnType<typeof count>>) =>
  result.requests.filter(({ method }) => method === 'PATCH').map(({ path, body }) => `${path.slice(14)} ${body}`);
