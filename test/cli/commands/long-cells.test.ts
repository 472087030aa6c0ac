import { expect } from 'vitest';
import { answering } from '../../support/answering.ts';
import { openShop, test } from '../../support/shop.ts';

/** Runs in far more than the time-out of a test if the layout is quadratic. */
async function laidOut(command: string, body: string, terminal: number | undefined) {
  const shop = await openShop();
  const env = { PETSTOCK_URL_STAGING: await answering(200, body) };
  const { code, stdout } = await shop.run(command, { env, terminal });
  expect(code).toBe(0);
  return stdout;
}

const cjk = '漢'.repeat(20_000);
const emoji = '😀'.repeat(20_000);
const family = '👩‍👩‍👧'.repeat(5_000);
const marks = `e${'\u0301'.repeat(20_000)}`;

test.each([
  ['CJK', cjk],
  ['emoji', emoji],
  ['emoji of several', family],
  ['marks', marks],
])('a long status of %s is laid out at once, and cut', async (_name, status) => {
  const body = JSON.stringify([{ petId: 1, quantity: 2, status }]);
  const shown = await laidOut('inventory list', body, 60);
  expect(shown.length).toBeLessThan(status === marks ? 50_000 : 1000);
  expect(shown).toContain('…');
});

test.each([
  ['as a value, in a list', JSON.stringify([{ id: 1, text: emoji }, { id: 2 }])],
  ['as a value, alone', JSON.stringify({ id: 1, text: emoji })],
  ['as a name, in a list', JSON.stringify([{ id: 1, [emoji]: 2 }])],
  ['as a name, alone', JSON.stringify({ id: 1, [emoji]: family })],
])('a field of 20,000 emoji %s is laid out at once', async (_name, body) => {
  await laidOut('orders list', body, 60);
  await laidOut('orders list -o table', body, undefined);
});

test('many columns are laid out at once', async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => [`field${index}`, index] as const);
  await laidOut('orders list', JSON.stringify([Object.fromEntries(names)]), 60);
});

test('objects without a field in common are no table', async () => {
  const orders = Array.from({ length: 5_000 }, (_, index) => ({ [`field${index}`]: index }));
  const shown = await laidOut('orders list', JSON.stringify(orders), 60);
  expect(JSON.parse(shown.replace(/^│ /gm, '').replaceAll('\n', ''))).toEqual(orders);
});

test('the first Ctrl-C ends a long layout', async ({ shop }) => {
  const orders = Array.from({ length: 30_000 }, (_, id) => ({ id, text: '漢'.repeat(40) }));
  const env = { PETSTOCK_URL_STAGING: await answering(200, JSON.stringify(orders)) };
  const interrupt = new AbortController();
  // As a signal does, it comes with a turn of the event loop.
  const onStdout = () => void setImmediate(() => interrupt.abort(new Error('Interrupted')));
  const { stdout } = await shop.run('orders list', { env, terminal: 80, interrupted: interrupt.signal, onStdout });
  expect(stdout.split('\n').length).toBeLessThan(15_000);
});

test('a field that is called as what every object has is empty where it is missing', async ({ shop }) => {
  const body = '[{"id":1,"constructor":"a"},{"id":2},{"id":3,"toString":4}]';
  const env = { PETSTOCK_URL_STAGING: await answering(200, body) };
  const { stdout } = await shop.run('orders list -o csv', { env });
  expect(stdout).toBe('id,constructor,toString\n1,a,\n2,,\n3,,4\n');
  const table = await shop.run('orders list -o table', { env });
  expect(table.stdout).not.toContain('function');
  const long = { PETSTOCK_URL_STAGING: await answering(200, body.replace('{"id":2}', `{"id":2,"name":"${cjk}"}`)) };
  expect((await shop.run('orders list', { env: long, terminal: 80 })).stdout).not.toContain('function');
});
