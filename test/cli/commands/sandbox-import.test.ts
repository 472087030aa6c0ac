import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { folderOf, get, type ServeLine, served } from '../../support/served-shop.ts';
import { test } from '../../support/shop.ts';

describe('an imported stock', () => {
  test('fills a new sandbox file with --import, and keeps an existing stock with a warning', async ({ shop }) => {
    const [file, stock] = [join(folderOf(shop), 'shop.db'), join(folderOf(shop), 'stock.csv')];
    writeFileSync(
      stock,
      'Pet ID;Quantity;Status\n9007199254740993;12;available\n"7";-3;SOLD\n8;9223372036854775807;\n',
    );
    const imported = async ({ url, key }: ServeLine) => {
      expect((await get(url, key)).text).toBe(
        '[{"petId":7,"quantity":-3,"status":"sold"},{"petId":8,"quantity":9223372036854775807,"status":"available"},{"petId":9007199254740993,"quantity":12,"status":"available"}]',
      );
    };
    const first = await served(shop, `--file ${file} --import ${stock}`, imported);
    expect(first.stderr).not.toContain('Warning');
    const again = await served(shop, `--file ${file} --import ${stock}`, imported);
    expect(again.stderr).toContain('Warning: The existing stock is kept,');
    expect(again.stderr).toContain(`To replace it: petstock sandbox import ${stock} --file ${file}\n`);
  });

  test('sandbox import reads the output of list and export, and keeps other pets with --merge', async ({ shop }) => {
    const listed = await shop.run('inventory list -o csv');
    await shop.run('sandbox import -', { stdin: listed.stdout });
    expect((await shop.run('-e sandbox inventory list -o csv')).stdout).toContain('9223372036854775807,');
    const exported = await shop.run('inventory export');
    await shop.exits('sandbox import -', 0, [], { stdin: exported.stdout });
    const stdin = 'id,qty,status\n1,999,sold\n4000,1,available\n';
    await shop.exits('sandbox import - --merge', 0, [], { stdin });
    const { stdout } = await shop.run('-e sandbox inventory list -o csv');
    expect(stdout).toContain('\n1,999,sold\n2,');
    expect(stdout).toContain('\n4000,1,available\n');
  });

  test('sandbox import reads a JSON file with more values than a response may have', async ({ shop }) => {
    const file = join(folderOf(shop), 'large.json');
    writeFileSync(file, `{"inventory":[{"petId":1,"quantity":1}],"notes":[${'1,'.repeat(1e6)}1]}`);
    const { code, stderr } = await shop.run(`sandbox import ${file} --yes`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('1 pet') });
  });

  test.for([
    ['petId,quantity\n1,1.5\n1,2\nx,3\n', 'line 2: the quantity', 'line 4: '],
    ['petId,quantity,colour\n1,1,red\n', 'line 1: the column "colour" is not known'],
    ['', 'line 1: the file is empty'],
    ['petId,quantity\n1,"2\n', 'line 2: a quote opens here and is never closed'],
    [
      '[{"petId":1,"quantity":2,"status":"lost"},{"petId":1.5,"quantity":"x"}]',
      'inventory[0]: the status',
      'inventory[1]: ',
    ],
    [
      '{"inventory":[],"pets":[{"id":3}],"orders":{}}',
      'pets[0]: pet 3 is not in the inventory',
      'orders: must be an array',
    ],
    ['[{"petId":', 'is not JSON'],
    ['export PETSTOCK_API_KEY=h7Qk2mZx9LpW4vNa8TcR\nOTHER=h7Qk2mZx9LpW4vNa8TcR,x\n', 'this is not a stock file'],
    ['h7Qk2mZx9LpW4vNa8TcR\nh7Qk2mZx9LpW4vNa8TcR\n', 'this is not a stock file'],
    ['constructor,petId,quantity\n1,2,3\n', 'the column "constructor" is not known'],
    ['id;h7Qk2mZx9LpW4vNa8TcR\n1;h7Qk2mZx9LpW4vNa8TcR\n', 'has an error. Nothing'],
    ['id\nh7Qk2mZx9LpW4vNa8TcR\n', 'line 1: the column quantity is missing'],
    ['status,ref\nh7Qk2mZx9LpW4vNa8TcR,1\n', 'line 1: this is not a stock file'],
    ['{"key":"h7Qk2mZx9LpW4vNa8TcR"}', 'this is not a stock file'],
    ['{"__proto__":{"inventory":[]},"h7Qk2mZx9LpW4vNa8TcR":1}', 'this is not a stock file'],
    ['{"orders":["h7Qk2mZx9LpW4vNa8TcR"]}', 'this is not a stock file'],
    ['["h7Qk2mZx9LpW4vNa8TcR"]', 'inventory[0]: '],
    ['{\n"h7Qk2mZx9LpW4vNa8TcR":1,\n"h7Qk2mZx9LpW4vNa8TcR":2}', 'is not JSON: line 3 is wrong'],
  ])('rejects the import of %j without repeating it', async ([text = '', ...faults], { shop }) => {
    const file = join(folderOf(shop), 'secrets');
    writeFileSync(file, text);
    const before = (await shop.run('-e sandbox inventory list -o csv')).stdout;
    for (const command of [`import ${file}`, 'import -', `serve --port 0 --import ${file}`]) {
      const stderr = await shop.refused(`sandbox ${command} --debug`, { stdin: text });
      for (const fault of faults) expect(stderr).toContain(fault);
      expect(stderr).not.toMatch(/h7Qk|Error: - /);
    }
    expect((await shop.run('-e sandbox inventory list -o csv')).stdout).toBe(before);
  });
});
