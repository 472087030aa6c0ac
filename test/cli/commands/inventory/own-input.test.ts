import { closeSync, linkSync, openSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { rowsIn } from '../../../support/delimited-rows.ts';
import { changeFile, openShop, type ShopRunOptions, test } from '../../../support/shop.ts';

const counts = 'petId,quantity\n4,1\n5,7\n';
const refused = /This command reads \S+, which may hold the only copy of its content/;

const link = (file: string) => join(dirname(file), 'link.csv');

test.for([
  ['its own name', (file: string) => file],
  ['another spelling', (file: string) => `${dirname(file)}/./counts.csv`],
  ['a symbolic link', (file: string) => symlinkSync(file, link(file)) ?? link(file)],
  ['a hard link', (file: string) => linkSync(file, link(file)) ?? link(file)],
] as const)('--failed-out never replaces the input file of apply: %s', async ([_what, nameOf], { shop }) => {
  const file = changeFile(shop, counts, 'counts.csv');
  const command = `inventory apply ${file} --yes --failed-out ${nameOf(file)} --force`;
  for (const options of [{}, { terminal: 80, prompts: { confirm: async () => true } }] satisfies ShopRunOptions[]) {
    expect((await shop.refused(command, options)).replaceAll(/\s+/g, ' ')).toMatch(refused);
    expect(readFileSync(file, 'utf8')).toBe(counts);
  }
});

function opened(file: string): number {
  const descriptor = openSync(file, 'r');
  onTestFinished(() => closeSync(descriptor));
  return descriptor;
}

test('--failed-out and --to never replace a file that the command reads', async ({ shop }) => {
  for (const [text, command] of [
    [counts, 'apply - --yes --failed-out FILE --force'],
    ['code,petId\n55,4\n', 'count --codes FILE --to FILE --force'],
    ['4\n', 'count --to FILE --force'],
  ] as const) {
    const file = changeFile(shop, text, 'own.csv');
    // With --codes, FILE holds the codes and stdin the scans.
    const stdin = command.includes('--codes') ? { stdin: '55\n' } : { stdin: text, stdinDescriptor: opened(file) };
    expect(await shop.refused(`inventory ${command.replaceAll('FILE', file)}`, stdin)).toMatch(refused);
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
});

test('--failed-out replaces the input of apply if petstock wrote the file and nobody has edited it', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/5:first=2:status=400'] });
  const failed = join(shop.folders.state, '..', 'failed.csv');
  const apply = (file: string) => `inventory apply ${file} --yes --failed-out ${failed}`;
  expect((await shop.run(apply(changeFile(shop, counts)))).code).toBe(8);
  expect((await shop.run(apply(failed))).code).toBe(10);
  expect(rowsIn(readFileSync(failed, 'utf8'))).toEqual([{ petId: '5', expected: '1', quantity: '7' }]);
  changeFile(shop, 'petId,quantity\n5,8\n', 'failed.csv');
  await shop.refused(`${apply(failed)} --force`);
});
