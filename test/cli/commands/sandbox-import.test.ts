import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { folderOf, get, type ServeLine, served } from '../../support/served-shop.ts';
import { test } from '../../support/shop.ts';

describe('an imported stock', () => {
  test('fills a new sandbox file with --import, and keeps an existing stock with a warning', async ({ shop }) => {
    const [file, stock] = [join(folderOf(shop), 'shop.db'), join(folderOf(shop), 'stock.csv')];
    writeFileSync(stock, 'Pet ID;Quantity;Status\n9007199254740993;12;available\n"7";-3;SOLD\n8;9007199254740991;\n');
    const imported = async ({ url, key }: ServeLine) => {
      expect((await get(url, key)).text).toBe(
        '[{"petId":7,"quantity":-3,"status":"sold"},{"petId":8,"quantity":9007199254740991,"status":"available"},{"petId":9007199254740993,"quantity":12,"status":"available"}]',
      );
    };
    const first = await served(shop, `--file ${file} --import ${stock}`, imported);
    expect(first.stderr).not.toContain('Warning');
    const again = await served(shop, `--file ${file} --import ${stock}`, imported);
    expect(again.stderr).toContain('Warning: The existing stock is kept,');
    expect(again.stderr).toContain(`To replace it: petstock sandbox import ${stock} --file ${file}\n`);
  });

  test('sandbox import reads the output of list and export', async ({ shop }) => {
    const listed = await shop.run('inventory list -o csv');
    await shop.run('sandbox import -', { stdin: listed.stdout });
    expect((await shop.run('-e sandbox inventory list -o csv')).stdout).toContain('9223372036854775807,');
    const exported = await shop.run('inventory export');
    await shop.exits('sandbox import -', 0, [], { stdin: exported.stdout });
  });

  test('imports files of every form into the sandbox', async ({ shop }) => {
    for (const [, stdin] of [
      ['a file for a spreadsheet', 'id;qty;status\n="9007199254740993";3;sold\n'],
      ['NDJSON', '{"petId":9007199254740993,"quantity":3,"status":"sold"}\n'],
      ['JSON with ids as strings', '[{"petId":"9007199254740993","quantity":3,"status":"SOLD","location":"A"}]'],
      ['TSV without a header', '9007199254740993\t3\tsold\n'],
      ['an export that was not edited', 'petId,status,expected,quantity,reason,ref\n9007199254740993,sold,3,,,\n'],
    ]) {
      await shop.exits('sandbox import -', 0, [], { stdin });
      expect((await shop.run('-e sandbox inventory list')).stdout).toMatch(/^9007199254740993\t3\tsold\b.*\n$/);
    }
  });

  test('refuses a faulty import, and keeps the stock', async ({ shop }) => {
    for (const [text = '', ...faults] of [
      ['petId,quantity\n1,1.5\nx,3\n', 'line 2, quantity: ', 'line 3, petId: '],
      ['petId,quantity\n1,1\n1,2\n', 'line 3: pet 1 is already on line 2'],
      ['petId,delta\n1,1\n', 'a stock list contains quantities, not changes'],
      ['petId,quantity\n1,"2\n', 'line 2: '],
      ['[{"petId":1,"quantity":2,"status":"lost"}]', 'the status must be available, pending, sold'],
      ['[{"petId":', 'line 1: '],
      ['{"key":"h7Qk2mZx9LpW4vNa8TcR"}', 'line 1'],
    ]) {
      const file = join(folderOf(shop), 'stock');
      writeFileSync(file, text);
      for (const command of [`import ${file}`, 'import -', `serve --port 0 --import ${file}`]) {
        const stderr = await shop.refused(`sandbox ${command}`, { stdin: text });
        for (const fault of faults) expect(stderr).toContain(fault);
      }
      expect((await shop.json('sandbox info --json')).pets).toBe(24);
    }
  });

  test('sandbox import empties the sandbox with an empty stock', async ({ shop }) => {
    for (const empty of ['[]', 'petId,quantity\n']) await shop.exits('sandbox import -', 0, [], { stdin: empty });
    expect((await shop.json('sandbox info --json')).pets).toBe(0);
  });
});
