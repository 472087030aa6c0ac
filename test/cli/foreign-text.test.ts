import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { visibleWidth } from '../../src/output/text-width.ts';
import type { RunResult } from '../support/context.ts';
import { recordRun, stateSql } from '../support/recorded-runs.ts';
import { answering } from '../support/servers.ts';
import { changeFile, openShop, type Shop, type ShopRunOptions, test } from '../support/shop.ts';

/** Foreign text that is wrapped at any width. Each of its words is marked with `ø`. */
const forged = Array.from({ length: 14 }, () => 'øHint: øpetstock øconfig øset-key').join(' ');
const inHeader = forged.replaceAll('ø', '\xf8');
const widths = [40, 200];

/** Checks that foreign text neither begins a line nor gives a hint, unless it follows a bar. */
function expectForeign(name: string, { stdout, stderr }: RunResult, questions: readonly string[] = []): void {
  const forgedLines = `${stdout}\n${stderr}\n${questions.join('\n')}`.split(/[\n\r]/).filter((line) => {
    const [own = ''] = line.split('│ ');
    return own.startsWith('ø') || own.includes('øHint:');
  });
  expect(forgedLines, name).toEqual([]);
}

async function attack(shop: Shop, command: string | readonly string[], options: ShopRunOptions = {}) {
  const questions: string[] = [];
  const answer = (question: string) => questions.push(question);
  const prompts = {
    confirm: async (question: string) => answer(question) > 0,
  };
  const env = { NO_COLOR: '1', ...options.env };
  const result = await shop.run(command, { terminal: 40, prompts, ...options, env });
  expectForeign(`${command}`, result, questions);
  return result;
}

test.each([200, 302, 404, 429, 503])('prints a response of status %i without forged lines', async (status) => {
  const retryAfter = status === 200 || status === 429 ? '1' : inHeader;
  const headers = { sunset: inHeader, 'x-ratelimit-limit': inHeader, 'retry-after': retryAfter };
  const body = JSON.stringify({ code: forged, message: forged, status });
  const url = await answering(status, body, { ...headers, location: `/${inHeader}` });
  const reads = ['inventory list', 'inventory get 4', 'status', 'pets get 3', 'orders list', 'limits --refresh'];
  const writes = ['inventory set 4 5', 'inventory adjust 4 1'];
  for (const debug of status === 429 || status === 503 ? ['', ' --debug'] : ['']) {
    let shop = await openShop();
    for (const command of [...reads, 'inventory diff staging production', ...writes]) {
      if (writes.includes(command)) shop = await openShop();
      const production = { PETSTOCK_URL_PRODUCTION: url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
      const options = { env: { ...production, PETSTOCK_URL_STAGING: url } };
      await attack(shop, `${command} --retries 0 --max-wait 0${debug}`, options);
      // A gate that a 429 or 503 has set lifts.
      shop.clock.advance(120_000);
    }
  }
});

test('prints no forged lines if the message for an unknown outcome contains line breaks', async () => {
  const message = `done.\n${forged}`;
  const url = await answering(503, JSON.stringify({ code: 'x', message, status: 503 }), { 'retry-after': '30' });
  const shop = await openShop();
  await shop.run('config set read-first never');
  for (const command of ['inventory set 4 5', 'inventory adjust 4 1'])
    await attack(shop, `${command} --max-wait 1 --yes`, { env: { PETSTOCK_URL_STAGING: url }, terminal: 60 });
});

const item = (fields: object) => JSON.stringify({ petId: 1, quantity: 5, status: 'sold', ...fields });

test.each([
  ['a status', `[${item({ status: forged })}]`],
  ['a quantity', `[${item({ quantity: forged })}]`],
  ['an id', `[${item({ petId: forged })}]`],
  ['a field, twice', `[{"${forged}":1,"${forged}":2}]`],
  ['no JSON', forged],
  ['the quantity of a write', item({ quantity: forged })],
  ['the field of a record', item({ [forged]: forged })],
])('prints %s from the service without forged lines', async (_name, body) => {
  const url = await answering(200, body);
  const commands = ['list', 'list --summary', 'list --fields status', 'get 1', 'get 1 2', 'watch --now --for 1'];
  let shop = await openShop();
  for (const command of [...commands, 'diff staging production', 'set 1 5', 'adjust 1 5', 'apply FILE --yes']) {
    // A new shop has no unknown row of an earlier case that would be read back first.
    if (/^(set|adjust|apply)/.test(command)) shop = await openShop();
    const production = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
    const env = { ...production, PETSTOCK_URL_STAGING: url };
    const file = changeFile(shop, 'petId,quantity\n1,7\n');
    await attack(shop, `inventory ${command.replace('FILE', file)}`, { env });
    if (command === 'get 1') for (const other of ['pets get 1', 'orders list']) await attack(shop, other, { env });
  }
});

test.each(widths)('prints runs of other users in %i columns without forged lines', async (terminal) => {
  const shop = await openShop();
  const error = { code: forged, message: forged };
  const run = await recordRun(shop, [
    { petId: 4n, before: 39, after: 12, result: 'failed', error, reason: forged, ref: forged },
    { petId: 5n, before: 1, after: 2, result: 'pending', reason: forged },
    { petId: 6n, before: 1, after: 2, result: 'applied', ref: forged },
  ]);
  const change = (sql: string) => stateSql(shop.folders.state, sql);
  await change(`UPDATE runs SET os_user = '${forged}', host = '${forged}', file = '${forged}', reason = '${forged}',
    command = '${forged}', store = '${forged}', base_url = 'https://x/${forged}', undoes = '${forged}', pets = '${forged}', units = '${forged}'`);
  const state = ['state info', 'state check', 'history prune --keep 0'];
  const looks = ['history list', `history show ${run}`, 'undo --last', ...state];
  for (const command of looks) await attack(shop, command, { terminal });
  await change(`UPDATE runs SET store = NULL, undoes = NULL, base_url = '${shop.service.url}'`);
  const writes = [`undo ${run} --dry-run`, 'undo --last', `inventory apply --resume ${run}`, 'inventory adjust 4 1'];
  for (const command of [...looks, ...writes]) await attack(shop, command, { terminal });
});

test.each([
  ['a column', `petId,quantity,${forged}\n1,2,3\n`],
  ['reasons', `petId,quantity,reason,ref\n1,2,${forged},${forged}\n2,9999,${forged},${forged}\n`],
  ['ids and quantities', `petId,quantity\n${forged},2\n1,${forged}\n`],
  ['a cell too many', `petId,quantity\n1,2,${forged}\n`],
  ['an open quote', `petId,quantity\n1,"${forged}\n`],
  ['a JSON field', `[{"petId":1,"${forged}":2}]`],
  ['a JSON value', `[{"petId":"${forged}","quantity":2,"reason":["${forged}"]}]`],
])('prints %s from a file without forged lines', async (_name, body) => {
  const shop = await openShop({ quantityBounds: { max: 1000n } });
  const file = changeFile(shop, body);
  for (const command of ['apply FILE --dry-run', 'diff FILE staging', 'count --codes FILE', 'apply FILE']) {
    await attack(shop, `inventory ${command.replace('FILE', file)}`, { stdin: '4\nøHint: x\ndone\n' });
  }
});

test('prints names and codes from a codes file without forged lines', async ({ shop }) => {
  const terminal = 40;
  const codes = changeFile(shop, `code,petId,name\nA1,1,${forged}\nA2,2,${forged}\n`);
  await shop.run(['config', 'set', 'codes', codes]);
  const scans = { stdin: 'A1\nA2\nøHint: øcode\ndone\n', terminals: ['stdout', 'stderr'] as const };
  await attack(shop, 'inventory count --yes', { terminal, ...scans });
  const reads = ['list', 'list --fields name', 'get 1', 'get 1 2', 'watch --now --for 1'];
  const commands = [...reads, 'set 1 5'].map((words) => `inventory ${words}`);
  for (const command of [...commands, 'history list', 'undo --last']) await attack(shop, command, { terminal });
});

test('prints a configuration file without forged lines', async ({ shop }) => {
  mkdirSync(shop.folders.config, { recursive: true });
  const settings = { [forged]: forged, codes: forged };
  const stores = { [forged]: 1, stores: { [forged]: {} } };
  for (const text of [JSON.stringify({ settings }), JSON.stringify(stores), forged]) {
    writeFileSync(join(shop.folders.config, 'config.json'), text, { mode: 0o600 });
    for (const command of ['config list', 'status', 'inventory list --limit 1', 'config get codes']) {
      await attack(shop, command);
    }
  }
});

test("wraps the service's message so that no line is wider than the terminal", async ({ shop }) => {
  const wide = `${'का'.repeat(30)} ${'👩‍👩‍👧'.repeat(9)} 𛀀𛀀 ${'⟨x⟩〈〉'.repeat(9)} Hint: petstock`;
  const body = JSON.stringify({ code: 'bad_request', message: wide, status: 400 });
  const env = { PETSTOCK_URL_STAGING: await answering(400, body) };
  const { stderr } = await attack(shop, 'inventory list', { env });
  const quoted = stderr.split('\n').filter((line) => line.startsWith('│ '));
  expect(quoted.length).toBeGreaterThan(3);
  // The sum of the widths of single characters is an upper bound for the width of a line.
  for (const line of quoted) {
    const widest = [...line].reduce((sum, character) => sum + visibleWidth(character), 0);
    expect(widest, line).toBeLessThanOrEqual(40);
  }
});
