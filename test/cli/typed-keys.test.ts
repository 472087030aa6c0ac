import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { looksLikeKey } from '../../src/cli/typed-keys.ts';
import { openShop, temporaryFolders, test } from '../support/shop.ts';

const secret = 'psk_s3cretABCD';
const other = 'h7Qk2mZx9LpW4vNa8TcR';

describe('a key on the command line is refused, and not repeated', () => {
  test.for([
    ['an unknown option with =', ['inventory', 'list', `--api-key=${secret}`]],
    ['an unknown option with = and any value', ['inventory', 'list', '--api-key=s3cret']],
    ['an unknown option', ['inventory', 'list', '--api-key', secret]],
    ['an environment', ['inventory', 'list', '-e', secret]],
    ['an environment, glued', ['inventory', 'list', `-e${other}`]],
    ['a store or format', ['inventory', 'list', '-o', secret]],
    ['a noun', [secret]],
    ['a verb', ['inventory', other]],
    ['an id', ['inventory', 'get', secret]],
    ['an id with its stock', ['inventory', 'set', `${secret}=5`]],
    ['one of several ids', ['inventory', 'list', '--pet', `4,${other}`]],
    ['a header', ['inventory', 'get', `Bearer ${other}`]],
    ['a quantity', ['inventory', 'set', '1', other]],
    ['a file to read', ['inventory', 'apply', other]],
    ['a file to write', ['inventory', 'export', secret]],
    ['a run', ['history', 'show', secret]],
    ['a path', ['api', 'GET', other, '--data', secret]],
    ['what a variable holds', ['inventory', 'get', 'plainkeys3cret']],
  ] as const)('%s', async ([_name, args], { shop }) => {
    expect(await shop.refused(args, { env: { PETSTOCK_API_KEY: 'plainkeys3cret' } })).not.toMatch(/s3cret|ABCD|h7Qk/);
  });

  test('an ordinary mistake is repeated', async ({ shop }) => {
    expect((await shop.run('inventory get 12x')).stderr).toContain('12x');
    expect((await shop.run('inventory list -e prod')).stderr).toContain('"prod"');
    expect((await shop.run('inventory apply stock-2026-11-21.csv')).stderr).toContain('stock-2026-11-21.csv');
  });

  test.each([
    [secret, true],
    [other, true],
    ['sk-live-0123456789abcdef', true],
    ['pk_live_abcdefghs3cret', true],
    ['550e8400-e29b-41d4-a716-446655440000', true],
    ['sk/live/AbCdEf0123456789xyzXYZ', true],
    ['AbCd+Ef/0123456789xyzXYZ==', true],
    ['20261121-130000-1a2b', false],
    ['Exports/4f2e8c1b9d3a7f60aa.csv', false],
    ['exports/4f2e8c1b9d3a7f60aa', false],
    ['~/Stock/4f2e8c1b9d3a7f60aa', false],
    ['20261121T130000-1a2b', false],
    ['9223372036854775807', false],
    ['stock-2026-11-21-north.csv', false],
    ['--max-changes', false],
    ['/tmp/4f2e8c1b9d3a7f60/stock', false],
    ['pk_live_51HxyzABCDEF', true],
    ['Exports/stock20261121T2230', false],
    ['stockExports/Nov/Stock20261121T2230', false],
    ['wJalrXUtnFEMI/K7MDENG9bPxRfiCYEXAMPLEKEY', true],
    ['stock-test-november', false],
    ['shop_prod_corrections', false],
    ['shop-prod-berlinmitte', false],
    ['shop-test-northside', false],
    ['shop-prod-20261121', false],
    ['stock-test-20261121-north', false],
  ])('%s: %s', (word, expected) => expect(looksLikeKey(word)).toBe(expected));
});

test.for([
  ['apply stock-test-november --format csv', 'stock-test-november'],
  ['apply shop_prod_corrections --format csv', 'shop_prod_corrections'],
  ['list --store shop-prod-berlinmitte', 'shop-prod-berlinmitte'],
  ['list --store shop-test-northside', 'shop-test-northside'],
] as const)('names with "test" or "prod" in them are no keys: %s', async ([args, name], { shop }) => {
  const { stderr } = await shop.run(`inventory ${args}`);
  expect(stderr).toContain(name);
  expect(stderr).not.toMatch(/no key|not shown|config set-key\n/);
});

describe('a hint repeats what is no key', () => {
  test.each([
    ['a delivery note', ['--ref', '3f2504e0-4f89-11d3-9a0c-0305e82c3301']],
    ['a parcel number', ['--reason', 'returned with UPS 1Z999AA10123456784']],
    ['an order', ['--reason=PO=20261121A00012345']],
  ])('%s', async (_name, words) => {
    const { shop, file } = await shopWithExport();
    const { code, stderr } = await shop.run(['inventory', 'count', '--new', '--to', file, ...words], { stdin: '4\n' });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/petstock inventory count .* --force\n/)]);
    expect(stderr).toContain(words.at(-1)?.replace(/^--reason=/, ''));
  });

  test.each([
    ['a key of its form', secret],
    ['what a variable holds', 'plainkeys3cret'],
    ['a key between words', `with ${secret} in it`],
  ])('and not %s in free text', async (_name, text) => {
    const { shop, file } = await shopWithExport();
    const env = { PETSTOCK_API_KEY: 'plainkeys3cret' };
    for (const words of [['--reason', text], [`--ref=${text}`]]) {
      const args = ['inventory', 'count', '--new', '--to', file, ...words];
      expect(await shop.refused(args, { stdin: '4\n', env })).not.toMatch(/s3cret|set-key/);
    }
  });

  test('what stands behind -- is no free text', async ({ shop }) => {
    const { code, stderr } = await shop.run(['inventory', 'get', '--', '--reason', other]);
    expect([code, stderr]).toEqual([2, expect.not.stringContaining(other)]);
  });

  test('nor what stands behind --ref where that is the reason', async ({ shop }) => {
    const { code, stderr } = await shop.run(['inventory', 'set', '--reason', '--ref', other]);
    expect([code, stderr]).toEqual([2, expect.not.stringContaining(other)]);
  });

  test('a path with a date', async ({ shop }) => {
    const { code, stderr } = await shop.run('inventory apply Exports/stock20261121T2230 --format csv', { stdin: '' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('Exports/stock20261121T2230')]);
    expect(stderr).not.toContain('set-key');
  });
});

async function shopWithExport() {
  const shop = await openShop();
  const file = join(shop.folders.state, '..', 'exi.csv');
  writeFileSync(file, 'hours of work\n');
  return { shop, file };
}

test('apply .env repeats no line of it', async ({ shop }) => {
  const folder = join((await temporaryFolders()).config, '..');
  const file = join(folder, '.env');
  writeFileSync(file, `# keys\nPETSTOCK_API_KEY=${secret}\nOTHER="${other}, and more"\n`);
  const first = await shop.run(['inventory', 'apply', file, '--yes']);
  expect(first).toMatchObject({ code: 2, requests: [], stderr: expect.stringContaining('this is not a change file') });
  writeFileSync(file, `PETSTOCK_API_KEY=${secret}\nOTHER=${other}\n`);
  const second = await shop.run(['inventory', 'apply', file, '--yes']);
  expect(second).toMatchObject({ code: 2, requests: [] });
  expect(first.stderr + second.stderr).not.toMatch(/s3cret|h7Qk|PETSTOCK_API|keys/);
});
