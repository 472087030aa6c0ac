import { expect } from 'vitest';
import { changeFile, type Shop, test } from '../support/shop.ts';

const secret = 'psk_s3cretABCD';
const other = 'pk_live_h7Qk2mZx9LpW4vNa8TcR';

test.for([
  ['an unknown option with =', ['inventory', 'list', `--api-key=${secret}`]],
  ['an unknown option with = and any value', ['inventory', 'list', '--api-key=s3cret']],
  ['an unknown option', ['inventory', 'list', '--api-key', secret]],
  ['an environment', ['inventory', 'list', '-e', secret]],
  ['an environment right after -e', ['inventory', 'list', `-e${other}`]],
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
  ['the value of a variable', ['inventory', 'get', 'plainkeys3cret']],
  ['an operand after --', ['inventory', 'apply', '--', `--ref=${other}`]],
  ['a word after --reason --ref', ['inventory', 'set', '--reason', '--ref', other]],
] as const)('refuses a key on the command line without printing it: %s', async ([_name, args], { shop }) => {
  expect(await shop.refused(args, { env: { PETSTOCK_API_KEY: 'plainkeys3cret' } })).not.toMatch(/s3cret|ABCD|h7Qk/);
});

test.for([
  ['get 12x', '12x'],
  ['list -e prod', '"prod"'],
  ['apply stock-2026-11-21.csv', 'stock-2026-11-21.csv'],
  ['apply desk-2026-11-21.csv', 'desk-2026-11-21.csv'],
] as const)('repeats an ordinary mistake in the error: %s', async (row, { shop }) => {
  const [args, name] = row;
  const stderr = await shop.refused(`inventory ${args}`);
  expect(stderr).toContain(name);
  expect(stderr).not.toMatch(/no key|not shown|config set-key\n/);
});

/** Runs a count that is refused because its file exists, and whose hint repeats the command. */
async function refusedCount(shop: Shop, words: readonly string[]): Promise<string> {
  const file = changeFile(shop, 'hours of work\n', 'exi.csv');
  const command = ['inventory', 'count', '--to', file, ...words];
  return shop.refused(command, { stdin: '4\n', env: { PETSTOCK_API_KEY: 'plainkeys3cret' } });
}

test('repeats text in a hint if it is not a key', async ({ shop }) => {
  const stderr = await refusedCount(shop, ['--ref', '3f2504e0-4f89-11d3-9a0c-0305e82c3301']);
  expect(stderr).toMatch(/petstock inventory count .*3f2504e0-4f89-11d3-9a0c-0305e82c3301.* --force\n/);
});

test.for([secret, 'plainkeys3cret', `with ${secret} in it`])(
  'leaves a key in the free text out of a hint: %s',
  async (text, { shop }) => {
    for (const words of [['--reason', text], [`--ref=${text}`]]) {
      expect(await refusedCount(shop, words)).not.toMatch(/s3cret|set-key/);
    }
  },
);

test.for([
  `# keys\nPETSTOCK_API_KEY=${secret}\nOTHER="${other}, and more"\n`,
  `PETSTOCK_API_KEY=${secret}\nOTHER=${other}\n`,
])('apply does not print a line of a refused .env file: %j', async (text, { shop }) => {
  const stderr = await shop.refused(['inventory', 'apply', changeFile(shop, text, '.env'), '--yes']);
  if (text.startsWith('#')) expect(stderr).toContain('this is not a change file');
  expect(stderr).not.toMatch(/s3cret|h7Qk|PETSTOCK_API|keys/);
});
