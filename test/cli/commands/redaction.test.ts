import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openShop, openShopAnswering, test, withEnv } from '../../support/shop.ts';

const key = 'sk/live/Abc-123+xyz~9';
const forms: readonly (readonly [name: string, json: string])[] = [
  ['as it is', key],
  ['as in a URL', encodeURIComponent(key)],
  ['in base64', Buffer.from(key).toString('base64')],
  ['in capitals', key.toUpperCase()],
  ['in small letters', key.toLowerCase()],
];

/** Checks that a text contains neither half of the key in any of the forms. */
function expectNoKey(text: string): void {
  for (const [, json] of forms) {
    for (const half of [json.slice(0, json.length / 2), json.slice(json.length / 2)]) {
      expect(text.toLowerCase()).not.toContain(half.toLowerCase());
    }
  }
}

/** Opens a shop at a service that answers every request with this response. */
async function openShopWithKey(...response: Parameters<typeof openShopAnswering>) {
  return withEnv(await openShopAnswering(...response), { PETSTOCK_API_KEY_STAGING: key });
}

test.each(forms)('hides a key that the service repeats %s', async (_name, json) => {
  // The message is cut after 1,000 characters, in the middle of the key.
  const body = `{"code":"bad ${json}","message":"${'x'.repeat(980)} The key ${json} is bad","status":401}`;
  for (const [status, command] of [
    [401, 'inventory list --debug'],
    [500, 'inventory set 2 5 --json'],
  ] as const) {
    const shop = await openShopWithKey(status, body, { location: `/v1/${json}`, 'x-request-id': encodeURI(json) });
    const shown = await shop.run(command, { terminal: 80 });
    expectNoKey(shown.stdout + shown.stderr);
    expectNoKey((await shop.run(command, { terminal: 80, terminals: ['stdin'] })).stderr);
    expectNoKey((await shop.run('history export')).stdout);
    expectNoKey(readFileSync(join(shop.folders.state, 'state.db'), 'latin1'));
  }
});

const many = (item: (id: number) => object) => JSON.stringify(Array.from({ length: 300 }, (_, id) => item(id)));

test.each([
  ['in a value', 'orders list', `[{"id":1,"note":"the key is KEY, which is not cut"}]`],
  ['in a field name', 'orders list', `[{"id":1,"a note with KEY":"which is not cut"}]`],
  ['in many values', 'orders list', many((id) => ({ id, note: 'the key is KEY' }))],
  ['in a name and a value', 'pets get 1', `{"id":1,"KEY":"the key is KEY, in parts"}`],
  ['in a status', 'inventory list', `[{"petId":1,"quantity":2,"status":"KEY"}]`],
  ['in many statuses', 'inventory list', many((petId) => ({ petId, quantity: 2, status: `${petId % 5} KEY` }))],
  ['in a status', 'inventory list --summary', `[{"petId":1,"quantity":2,"status":"KEY"}]`],
  ['in a status', 'inventory list --status KEY', `[{"petId":1,"quantity":2,"status":"KEY"}]`],
])('hides a key %s in warnings and in tables of 10 to 80 columns: %s', async (_where, command, body) => {
  const shop = await openShopWithKey(200, body.replaceAll('KEY', key));
  for (const terminal of [undefined, 10, 30, 80]) {
    const { stdout, stderr } = await shop.run(`${command} --no-pager`, { terminal });
    // On a pipe, stdout is data, which is not redacted.
    const shown = `${terminal === undefined ? '' : stdout}${stderr}`.replace(/\s+/g, '');
    for (let at = 0; at + 8 <= key.length; at += 1) expect(shown).not.toContain(key.slice(at, at + 8));
  }
});

test('keeps the key out of all output and the state, whether accepted, refused or unanswered', async () => {
  const secret = 'psk_NeverShownNeverShownNeverShown99';
  const commands = [
    'inventory list',
    'inventory list --json',
    'inventory get 1',
    'inventory set 1 5 --reason because',
    'inventory adjust 1 +1',
    'pets get 1',
    'orders list',
    'api GET /inventory',
    'api GET /nothing',
    'api POST /inventory',
    'status',
    'status --json',
    'limits --refresh',
    'config list',
  ];
  const takes = await openShop({ key: secret });
  const others = [takes, await openShop(), await openShop({ faults: ['*:reset'] })];
  let output = '';
  for (const { service } of others) {
    const run = async (command: string, env: Record<string, string>, stdin?: string) => {
      const withoutKey = { PETSTOCK_API_KEY_STAGING: undefined, ...env };
      const { stdout, stderr } = await takes.run(command, { stdin, env: withoutKey });
      output += stdout + stderr;
    };
    // Uses the stored key, and then a key from a variable.
    await run(`config set-key --env staging --debug --url ${service.url}`, {}, secret);
    for (const command of commands) await run(`${command} --debug`, { PETSTOCK_URL_STAGING: service.url });
    await run('api POST /inventory --debug', { PETSTOCK_API_KEY: secret, PETSTOCK_URL_STAGING: service.url });
  }
  expect(output).toContain('> GET http://');
  expect(output).not.toContain('NeverShown');
  expect(output).not.toContain(Buffer.from(secret).toString('base64').slice(4, 20));
  const home = join(takes.folders.config, '..');
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const holding = files.map(({ parentPath, name }) => join(parentPath, name));
  expect(holding.filter((file) => readFileSync(file).includes('NeverShown'))).toEqual([
    join(takes.folders.config, 'config.json'),
  ]);
});

test.each([
  ['the path of a Location', 307, { location: `/v1/${encodeURIComponent(key)}` }, key],
  ['the host of a Location', 307, { location: 'https://sk-live-Abc-123.example/v1/' }, 'sk-live-Abc-123'],
  ['a Content-Encoding', 200, { 'content-encoding': 'SK-live-ABC-123' }, 'sk-live-Abc-123'],
])('hides a key in %s, even if its letter case differs', async (...row) => {
  const [, status, headers, own] = row;
  const shop = withEnv(await openShopAnswering(status, '', headers), { PETSTOCK_API_KEY_STAGING: own });
  const outputs = [];
  for (const command of ['inventory list', 'inventory set 1 5']) outputs.push((await shop.run(command)).stderr);
  outputs.push((await shop.run('history export')).stdout);
  for (const text of outputs) {
    expectNoKey(text);
    expect(text).not.toMatch(/abc-123/i);
  }
});

test('prints the body of api unredacted to a pipe, and redacted on a terminal', async () => {
  const shop = await openShopWithKey(200, `"${key}"`);
  expect((await shop.run('api GET /x')).stdout).toBe(`"${key}"`);
  expect((await shop.run('api GET /x', { terminal: 80 })).stdout).toBe('"[key]"\n');
});
