import { type Shop, type ShopRunOptions, withReport } from '../../../../support/shop.ts';

/** Runs `inventory count` with these lines on stdin. @returns what `withReport` does, and `written`: `['4 {"quantity":2}']` */
export async function count(shop: Shop, lines: string, args = '--yes --json', options: ShopRunOptions = {}) {
  const words = args === '' ? [] : args.split(' ');
  const result = await shop.run(['inventory', 'count', ...words], { stdin: lines, ...options });
  const patches = result.requests.filter(({ method }) => method === 'PATCH');
  const written = patches.map(({ path, body }) => `${path.slice(14)} ${body}`);
  return { ...withReport(result.stdout.startsWith('{') ? result : { ...result, stdout: '' }), written };
}

/** Options of a terminal of 80 columns at which every question is answered yes. */
export const person: ShopRunOptions = {
  terminal: 80,
  env: { NO_COLOR: '1' },
  prompts: { confirm: async () => true, text: async () => 'production' },
};

/** Returns the last four characters of the oldest session's id. */
export async function sessionIn(shop: Pick<Shop, 'json'>): Promise<string> {
  const [name = ''] = await sessionsIn(shop);
  return name;
}

/** Returns the last four characters of each session's id, oldest first. */
export async function sessionsIn(shop: Pick<Shop, 'json'>): Promise<string[]> {
  const listed: { session: string }[] = await shop.json('inventory count --list --closed --json');
  return listed.map(({ session }) => session.slice(-4)).reverse();
}

/** Begins a session for each list of scans; --max-changes 0 prevents the write. @returns what `sessionsIn` does */
export async function begun(shop: Shop, ...sessions: readonly string[]): Promise<string[]> {
  for (const lines of sessions) await count(shop, lines, '--new --yes --max-changes 0');
  return sessionsIn(shop);
}

/** Returns the states of all sessions, in alphabetical order. */
export async function statesIn(shop: Pick<Shop, 'json'>): Promise<string[]> {
  const listed: { state: string }[] = await shop.json('inventory count --list --closed --json');
  return listed.map(({ state }) => state).sort();
}
