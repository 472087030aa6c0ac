import { expect } from 'vitest';
import { openShop, test } from '../support/shop.ts';

type Variables = Readonly<Record<string, string>>;

const csi = '\x1b[';

/** Whether stdout is in colour, and the error on stderr; piped, or on a terminal. */
async function coloured(flags: string, env: Variables, terminal?: number) {
  const shop = await openShop();
  const list = await shop.run(`inventory list -o table ${flags}`.trim(), { env, terminal });
  const failed = await shop.run(`inventory get 4242 ${flags}`.trim(), { env, terminal });
  expect([list.code, failed.code]).toEqual([0, 9]);
  return { stdout: list.stdout.includes(csi), stderr: failed.stderr.includes(csi) };
}

const all = { stdout: true, stderr: true };
const none = { stdout: false, stderr: false };

test.each<[string, Variables, typeof all]>([
  ['', {}, none],
  ['', { FORCE_COLOR: '1' }, all],
  ['--color always', {}, all],
])('piped: %s %o', async (flags, env, expected) => {
  expect(await coloured(flags, env)).toEqual(expected);
});

test.each<[string, Variables, typeof all]>([
  ['', {}, all],
  ['', { NO_COLOR: '1' }, none],
])('on a terminal: %s %o', async (flags, env, expected) => {
  expect(await coloured(flags, env, 80)).toEqual(expected);
});

test('each stream is judged by itself', async ({ shop }) => {
  const onlyStderr = { terminal: 80, terminals: ['stderr'] as const };
  const list = await shop.run('inventory list -o table', onlyStderr);
  expect(list.stdout).not.toContain('\x1b');
  const failed = await shop.run('inventory get 4242', onlyStderr);
  expect(failed.stderr).toContain(`${csi}31m`);
});

test('colour changes nothing but colour', async ({ shop }) => {
  const plain = await shop.run('inventory list -o table');
  const painted = await shop.run('inventory list -o table --color always');
  expect(painted.stdout.replaceAll(/\x1b\[\d+m/g, '')).toBe(plain.stdout);
});

test.for(['json', 'ndjson', 'csv', 'tsv'])('%s is never coloured', async (format, { shop }) => {
  const { code, stdout } = await shop.run(`inventory list -o ${format} --color always`);
  expect(code).toBe(0);
  expect(stdout).not.toContain('\x1b');
});
