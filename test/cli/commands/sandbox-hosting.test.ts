import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { temporaryDatabase } from '../../support/postgres.ts';
import { envOf, folderOf, get, type ServeLine, served } from '../../support/served-shop.ts';
import { test } from '../../support/shop.ts';

const given = 'a-constant-key-of-ours';

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

  test('imports, serves and exports pet records and orders without changes', async ({ shop }) => {
    const [one, two] = [join(folderOf(shop), 'one.json'), join(folderOf(shop), 'two.json')];
    const stdin = `{"inventory":[{"petId":9223372036854775807,"quantity":4,"status":"pending"}],
      "pets":[{"id":9223372036854775807,"name":"Rex"}],"orders":[{"order":12345678901234567890,"pet":1}]}`;
    const done = await shop.json('sandbox import - --json', { stdin });
    expect(done).toEqual({ store: expect.stringMatching(/sandbox\.db$/), pets: 1, orders: 1 });
    await served(shop, '', async ({ url, key }) => {
      expect((await get(url, key, '/pets/9223372036854775807')).text).toBe('{"id":9223372036854775807,"name":"Rex"}');
      expect((await get(url, key, '/store/orders')).text).toBe('[{"order":12345678901234567890,"pet":1}]');
    });
    for (const command of [`export ${one}`, 'reset', `import ${one}`, `export ${two}`]) {
      await shop.exits(`sandbox ${command}`, 0);
    }
    expect(readFileSync(two, 'utf8')).toBe(readFileSync(one, 'utf8'));
    const asCsv = await shop.exits('sandbox export', 0, 'Warning: CSV leaves out orders and pet records.');
    expect(asCsv.stdout).toBe('petId,quantity,status\r\n9223372036854775807,4,pending\r\n');
  });

  test('sandbox import reads the output of list and export, and keeps other pets with --merge', async ({ shop }) => {
    const listed = await shop.run('inventory list -o csv');
    await shop.run('sandbox import -', { stdin: listed.stdout });
    expect((await shop.run('sandbox export')).stdout).toContain('9223372036854775807,');
    const exported = await shop.run('inventory export');
    await shop.exits('sandbox import -', 0, [], { stdin: exported.stdout });
    const stdin = 'id,qty,status\n1,999,sold\n4000,1,available\n';
    await shop.exits('sandbox import - --merge', 0, [], { stdin });
    const { stdout } = await shop.run('sandbox export');
    expect(stdout).toContain('\r\n1,999,sold\r\n2,');
    expect(stdout).toContain('\r\n4000,1,available\r\n');
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
    const before = (await shop.run('sandbox export')).stdout;
    for (const command of [`import ${file}`, 'import -', `serve --port 0 --import ${file}`]) {
      const stderr = await shop.refused(`sandbox ${command} --debug`, { stdin: text });
      for (const fault of faults) expect(stderr).toContain(fault);
      expect(stderr).not.toMatch(/h7Qk|Error: - /);
    }
    expect((await shop.run('sandbox export')).stdout).toBe(before);
  });

  test('keeps the sandbox stock after an invalid import, and imports the export of an empty stock', async ({
    shop,
  }) => {
    const database = await temporaryDatabase();
    await shop.run(`sandbox import - --database ${database}`, { stdin: 'id,qty\n1,1\n' });
    for (const options of ['--merge', `--database ${database} --yes`]) {
      const exported = `sandbox export ${options.replace(/--merge|--yes/, '')}`.trim();
      const before = (await shop.run(exported)).stdout;
      const refused = await shop.run(`sandbox import - ${options}`, { stdin: '{"key":"h7Qk"}' });
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect((await shop.run(exported)).stdout).toBe(before);
    }
    for (const empty of ['[]', '{"inventory":[]}', 'petId,quantity\n']) {
      await shop.exits('sandbox import -', 0, [], { stdin: empty });
      for (const format of ['json', 'csv']) {
        const { stdout } = await shop.run(`sandbox export --format ${format}`);
        await shop.exits('sandbox import -', 0, [], { stdin: stdout });
      }
    }
  });
});

test('backs up the sandbox while it is served, and serves the copy', async ({ shop }) => {
  const copy = join(folderOf(shop), 'copy.db');
  await served(shop, '', async (line) => {
    const env = envOf(line);
    await shop.run('inventory set 1 4711', { env });
    expect(await shop.json(`sandbox backup ${copy} --json`)).toEqual({ file: copy, pets: 24 });
    await shop.run('inventory set 1 4712', { env });
  });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(['-wal', '-shm', '.unfinished'].filter((end) => existsSync(copy + end))).toEqual([]);
  expect(await shop.refused(`sandbox backup ${copy}`)).toBe(`Error: ${copy} already exists. Choose another file.\n`);
  await served(shop, `--file ${copy}`, async ({ url, key }) => {
    expect((await get(url, key)).text).toContain('{"petId":1,"quantity":4711,');
  });
});

test('sandbox commands serve, fill and reset a stock in PostgreSQL', {
  timeout: 60_000,
}, async ({ shop }) => {
  const database = await temporaryDatabase();
  const at = `--database ${database}`;
  await served(shop, `${at} --key ${given} --admin-port 0`, async ({ url, admin }) => {
    expect(JSON.parse((await get(url, given)).text)).toHaveLength(24);
    expect((await fetch(`${admin}/readyz`)).status).toBe(200);
    const stdin = 'id,qty\n5,6\n';
    await shop.exits(`sandbox import - ${at}`, 2, [], { stdin });
    await shop.exits(`sandbox import - --yes ${at}`, 0, [], { stdin });
    expect((await get(url, given)).text).toBe('[{"petId":5,"quantity":6,"status":"available"}]');
    await shop.exits(`sandbox reset --yes ${at}`, 0);
    expect(JSON.parse((await get(url, given)).text)).toHaveLength(24);
  });
  // In an address with several servers, an absent server is skipped.
  const folder = /host=([^&]+)/.exec(database)?.[1] ?? '';
  const list = `${database.replace(folder, `/nowhere,${folder}`)}&target_session_attrs=read-write`;
  await shop.exits(`sandbox export --database ${list} -o csv`, 0);
  await served(shop, `--database ${list} --key ${given}`, async ({ url }) => {
    expect((await get(url, given)).status).toBe(200);
  });
  // The database has only the key that it was served with.
  const [only, ...more] = await shop.json(`sandbox keys list --json ${at}`);
  expect(more).toEqual([]);
  await shop.exits(`sandbox keys revoke ${only.id} ${at}`, 0);
  await shop.exits(`sandbox backup copy.db ${at}`, 2, 'pg_dump --schema=petstock_service');
});
