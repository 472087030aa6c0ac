import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { InterruptedError } from '../../../src/shared/errors.ts';
import { canMakeFifos } from '../../support/capabilities.ts';
import { temporaryDatabase } from '../../support/postgres.ts';
import { folderOf, get, type ServeLine, served } from '../../support/served-shop.ts';
import { changeFile, openShop, test } from '../../support/shop.ts';

const given = 'a-constant-key-of-ours';

describe('the key', () => {
  test('--key is a constant one, and is in no log, which is JSON from the first line', async ({ shop }) => {
    const { code, stderr } = await served(shop, `--key ${given} --log`, async ({ url, key }) => {
      expect(key).toBe(given);
      expect((await get(url, given)).status).toBe(200);
    });
    expect(code).toBe(0);
    expect(stderr).not.toContain(given);
    const [first, , request] = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first).toEqual({ time: expect.any(String), level: 'info', message: expect.stringMatching(/^Serving at/) });
    expect(request).toMatchObject({ keyPrefix: 'a-con', route: '/v1/inventory', status: 200 });
  });

  test.each(['--key short', `--key ${'x'.repeat(129)}`, '--key sixteen-lettersé'])(
    '%s: exit 2, unrepeated',
    async (option) => {
      expect(await (await openShop()).refused(`sandbox serve --port 0 ${option}`)).toBe(
        'Error: --key must have 16 to 128 visible ASCII characters.\n',
      );
    },
  );

  test('--key-file makes it once, for this user alone, and shows it nowhere', async ({ shop }) => {
    const file = join(folderOf(shop), 'key');
    const first = await served(shop, `--key-file ${file} --log`, async ({ url, key }) => {
      expect(key).toBeNull();
      expect((await get(url, readFileSync(file, 'utf8').trim())).status).toBe(200);
    });
    const key = readFileSync(file, 'utf8').trim();
    expect(key).toMatch(/^psk_/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(first.stdout + first.stderr).not.toContain(key);
    expect(first.stderr).toContain(`The key is in ${file}.`);
    await served(shop, `--key-file ${file}`, async ({ url }) => {
      expect((await get(url, key)).status).toBe(200);
    });
  });

  test('without a terminal stderr has neither key nor token; on one there is what to paste', async ({ shop }) => {
    const quiet = await served(shop, '--file :memory: --admin-port 0');
    const { key, adminToken, url } = JSON.parse(quiet.stdout);
    expect(quiet.stderr).not.toMatch(/psk_|adm_/);
    expect(quiet.stderr).toContain('The key is shown with --json.\n');
    expect([key, adminToken]).toEqual([expect.stringMatching(/^psk_/), expect.stringMatching(/^adm_/)]);
    const shown = await served(shop, '--file :memory:', async () => {}, {
      terminal: 100,
      terminals: ['stderr'],
    });
    const line = JSON.parse(shown.stdout);
    expect(shown.stderr).toContain(`export PETSTOCK_URL_STAGING=${line.url}\n`);
    expect(shown.stderr).toContain(`export PETSTOCK_API_KEY_STAGING=${line.key}\n`);
    expect(url).not.toBe(line.url);
  });
});

test.each([
  ['--log --port 0 --host 0.0.0.0', {}, /^Other machines would reach 0\.0\.0\.0/],
  ['--log --pets many', {}, /^--pets takes a whole number/],
  ['--nonsense', { PETSTOCK_SERVE_LOG: '1' }, /^Unknown option "--nonsense"/],
  ['--port 0', { PETSTOCK_SERVE_LOG: 'true', PETSTOCK_SERVE_DRAIN: 'soon', PETSTOCK_SERVE_X: '1' }, /^--drain takes/],
  ['--log --json --file :memory: --fault nonsense', {}, /^Fault "nonsense"/],
])('with a log %s does not start: each line is JSON, the last has the error', async (options, env, message) => {
  const { code, stderr } = await (await openShop()).run(`sandbox serve ${options}`, { env });
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([code, lines.at(-1)]).toEqual([
    2,
    expect.objectContaining({
      time: expect.any(String),
      level: 'error',
      message: expect.stringMatching(message),
      exitCode: 2,
    }),
  ]);
});

describe('options by variable', () => {
  test('the command line goes before a variable', async ({ shop }) => {
    const env = {
      PETSTOCK_SERVE_PORT: '0',
      PETSTOCK_SERVE_PETS: '6',
      PETSTOCK_SERVE_FAULT: 'GET /store/orders:status=500',
      PETSTOCK_SERVE_LIMIT_MINUTE: '6',
      PETSTOCK_SERVE_NO_BAN: 'true',
      PETSTOCK_SERVE_PORTT: '1',
      PETSTOCK_SERVE_CORS: 'https://a.example, https://b.example',
    };
    const look = async ({ url, key }: ServeLine) => {
      const { text, headers } = await get(url, key);
      expect(JSON.parse(text)).toHaveLength(6);
      expect(headers.get('x-ratelimit-limit')).toBe('7');
      expect(headers.get('vary')).toBe('Origin');
      expect((await get(url, key, '/store/orders')).status).toBe(500);
    };
    const { code, stderr } = await served(shop, '--limit-minute 7', look, { env });
    expect(code).toBe(0);
    expect(stderr).toContain('Warning: PETSTOCK_SERVE_PORTT is not an option of petstock sandbox serve.\n');
  });

  test('of two options that exclude each other the one of the stronger source counts', async ({ shop }) => {
    const env = {
      PETSTOCK_SERVE_FILE: join(folderOf(shop), 'never.db'),
      PETSTOCK_SERVE_KEY_FILE: join(folderOf(shop), 'never.key'),
      PETSTOCK_SERVE_NO_ADDRESS_LIMIT: 'true',
      PETSTOCK_SERVE_LIMIT_MINUTE: '7',
    };
    const look = async ({ url, key }: ServeLine) => {
      expect(key).toBe(given);
      expect((await get(url, key)).headers.get('x-ratelimit-limit')).toBe('60');
      expect((await get(url, 'no-key-of-ours-at-all')).headers.get('x-ratelimit-limit')).toBe('9');
    };
    const database = await temporaryDatabase();
    const options = `--database ${database} --key ${given} --address-limit 9 --plan free`;
    expect((await served(shop, options, look, { env })).code).toBe(0);
    expect([existsSync(env.PETSTOCK_SERVE_FILE), existsSync(env.PETSTOCK_SERVE_KEY_FILE)]).toEqual([false, false]);
    // One source that names both is still refused, and what is off excludes nothing.
    const both = { PETSTOCK_SERVE_KEY: given, PETSTOCK_SERVE_KEY_FILE: env.PETSTOCK_SERVE_KEY_FILE };
    expect((await shop.run('sandbox serve --port 0', { env: both })).stderr).toContain('--key and --key-file');
    const off = { PETSTOCK_SERVE_ADDRESS_LIMIT: '9', PETSTOCK_SERVE_NO_ADDRESS_LIMIT: 'false' };
    await served(
      shop,
      '--file :memory:',
      async ({ url }) => {
        expect((await get(url, 'no-key-of-ours-at-all')).headers.get('x-ratelimit-limit')).toBe('9');
      },
      { env: off },
    );
  });

  test.each([
    ['--file a.db --database postgres://x/y', /cannot be used together/],
    ['--database mysql://root:secret@x/y', /^Error: --database takes an address/],
    ['--database postgres://me:secret@x,y/z?options=-c', /^Error: --database cannot be used: the parameter "options"/],
    ['--import a.csv --pets 5', /leave --pets/],
    ['--tls-cert a.pem', /--tls-key is missing/],
    ['--tls-cert /nowhere.pem --tls-key /nowhere.key', /cannot be used/],
    ['--trust-proxy 10.0.0.0/40', /takes a network/],
    ['--cors shop.example', /takes an origin/],
    ['--ids tiny', /--ids takes large, small/],
    ['--admin-host 127.0.0.2', /no effect without --admin-port/],
    ['--test-controls', /no effect without --admin-port/],
    ['--admin-port 0 --admin-host 0.0.0.0', /--admin-host 0.0.0.0 --expose/],
    ['--drain soon', /--drain takes/],
  ])('%s: exit 2, and no password is repeated', async (options, message) => {
    const stderr = await (await openShop()).refused(`sandbox serve --port 0 ${options}`);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('secret');
  });
});

describe('a stock of one’s own', () => {
  const csv = 'Pet ID;Quantity;Status\n9007199254740993;12;available\n"7";-3;SOLD\n8;9223372036854775807;\n';
  const json = `{"inventory":[{"petId":9223372036854775807,"quantity":4,"status":"pending"}],
    "pets":[{"id":9223372036854775807,"name":"Rex"}],"orders":[{"order":12345678901234567890,"pet":1}]}`;

  test('--import fills a new store, and one that has a stock keeps it', async ({ shop }) => {
    const [file, stock] = [join(folderOf(shop), 'shop.db'), join(folderOf(shop), 'stock.csv')];
    writeFileSync(stock, csv);
    const imported = async ({ url, key }: ServeLine) => {
      expect((await get(url, key)).text).toBe(
        '[{"petId":7,"quantity":-3,"status":"sold"},{"petId":8,"quantity":9223372036854775807,"status":"available"},{"petId":9007199254740993,"quantity":12,"status":"available"}]',
      );
    };
    const first = await served(shop, `--file ${file} --import ${stock}`, imported);
    expect(first.stderr).not.toContain('Warning');
    const again = await served(shop, `--file ${file} --import ${stock}`, imported);
    expect(again.stderr).toContain('Warning: The stock that is there is kept;');
  });

  test('import, served records and orders, export and back again', async ({ shop }) => {
    const [one, two] = [join(folderOf(shop), 'one.json'), join(folderOf(shop), 'two.json')];
    const done = await shop.run('sandbox import - --json', { stdin: json });
    expect(JSON.parse(done.stdout)).toEqual({ store: expect.stringMatching(/sandbox\.db$/), pets: 1, orders: 1 });
    await served(shop, '', async ({ url, key }) => {
      expect((await get(url, key, '/pets/9223372036854775807')).text).toBe('{"id":9223372036854775807,"name":"Rex"}');
      expect((await get(url, key, '/store/orders')).text).toBe('[{"order":12345678901234567890,"pet":1}]');
    });
    await shop.run(`sandbox export ${one}`);
    await shop.run('sandbox reset');
    await shop.run(`sandbox import ${one}`);
    await shop.run(`sandbox export ${two}`);
    expect(readFileSync(two, 'utf8')).toBe(readFileSync(one, 'utf8'));
    const asCsv = await shop.run('sandbox export');
    expect(asCsv.stdout).toBe('petId,quantity,status\r\n9223372036854775807,4,pending\r\n');
    expect(asCsv.stderr).toContain('Warning: Orders and records of pets are left out of CSV;');
  });

  test('what `list -o csv` and `export` write is read, and --merge keeps the rest', async ({ shop }) => {
    const listed = await shop.run('inventory list -o csv');
    await shop.run('sandbox import -', { stdin: listed.stdout });
    expect((await shop.run('sandbox export')).stdout).toContain('9223372036854775807,');
    const exported = await shop.run('inventory export');
    expect((await shop.run('sandbox import -', { stdin: exported.stdout })).code).toBe(0);
    const merged = await shop.run('sandbox import - --merge', {
      stdin: 'id,qty,status\n1,999,sold\n4000,1,available\n',
    });
    expect(merged.code).toBe(0);
    const { stdout } = await shop.run('sandbox export');
    expect(stdout).toContain('\r\n1,999,sold\r\n2,');
    expect(stdout).toContain('\r\n4000,1,available\r\n');
  });

  test.for([
    ['petId,quantity\n1,1.5\n1,2\nx,3\n', ['line 2: the quantity', 'line 4: ']],
    ['petId,quantity,colour\n1,1,red\n', ['line 1: the column "colour" is not known']],
    ['petId\n1\n', ['line 1: the column quantity is missing']],
    ['', ['line 1: the file is empty']],
    ['petId,quantity\n1,"2\n', ['line 2: a quote opens here and is never closed']],
    [
      '[{"petId":1,"quantity":2,"status":"lost"},{"petId":1.5,"quantity":"x"}]',
      ['inventory[0]: the status', 'inventory[1]: '],
    ],
    [
      '{"inventory":[],"pets":[{"id":3}],"orders":{}}',
      ['pets[0]: the pet 3 is not in the inventory', 'orders: must be an array'],
    ],
    ['[{"petId":', ['is not JSON']],
    ['{"inventory":null}', ['inventory: must be an array']],
  ] as const)('%j: every fault is named, and nothing is imported', async ([stdin, faults], { shop }) => {
    const before = (await shop.run('sandbox export')).stdout;
    const stderr = await shop.refused('sandbox import -', { stdin });
    for (const fault of faults) expect(stderr).toContain(fault);
    expect((await shop.run('sandbox export')).stdout).toBe(before);
  });
});

test.for([
  ['export PETSTOCK_API_KEY=h7Qk2mZx9LpW4vNa8TcR\nOTHER=h7Qk2mZx9LpW4vNa8TcR,x\n', 'this is not a stock'],
  ['h7Qk2mZx9LpW4vNa8TcR\nh7Qk2mZx9LpW4vNa8TcR\n', 'this is not a stock'],
  ['constructor,petId,quantity\n1,2,3\n', 'the column "constructor" is not known'],
  ['id;h7Qk2mZx9LpW4vNa8TcR\n1;h7Qk2mZx9LpW4vNa8TcR\n', 'has 1 fault;'],
  ['id\nh7Qk2mZx9LpW4vNa8TcR\n', 'line 1: the column quantity is missing'],
  ['qty,h7Qk2mZx9LpW4vNa8TcR\nh7Qk2mZx9LpW4vNa8TcR,1\n', 'line 1: the column petId is missing'],
  ['status,ref\nh7Qk2mZx9LpW4vNa8TcR,1\n', 'line 1: this is not a stock'],
  ['{"key":"h7Qk2mZx9LpW4vNa8TcR"}', 'this is not a stock'],
  ['{"h7Qk2mZx9LpW4vNa8TcR":1}', 'this is not a stock'],
  ['{"__proto__":{"inventory":[]},"h7Qk2mZx9LpW4vNa8TcR":1}', 'this is not a stock'],
  ['{"orders":["h7Qk2mZx9LpW4vNa8TcR"]}', 'this is not a stock'],
  ['{}', 'this is not a stock'],
  ['["h7Qk2mZx9LpW4vNa8TcR"]', 'inventory[0]: '],
  ['{\n"h7Qk2mZx9LpW4vNa8TcR":1,\n"h7Qk2mZx9LpW4vNa8TcR":2}', 'is not JSON: line 3 is wrong'],
] as const)('%j: of what is no stock no line is repeated', async ([text, fault], { shop }) => {
  const file = join(folderOf(shop), 'secrets');
  writeFileSync(file, text);
  for (const command of ['import', 'serve --port 0 --import']) {
    const stderr = await shop.refused(`sandbox ${command} ${file} --debug`);
    expect(stderr).toContain(fault);
    expect(stderr).not.toMatch(/h7Qk/);
  }
});

test('what is no stock empties no store, and the export of an empty one can be imported', async ({ shop }) => {
  const database = await temporaryDatabase();
  await shop.run(`sandbox import - --database ${database}`, { stdin: 'id,qty\n1,1\n' });
  for (const options of ['', '--merge', `--database ${database} --yes`]) {
    const exported = `sandbox export ${options.replace(/--merge|--yes/, '')}`.trim();
    const before = (await shop.run(exported)).stdout;
    const refused = await shop.run(`sandbox import - ${options}`.trim(), { stdin: '{"key":"h7Qk"}' });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect((await shop.run(exported)).stdout).toBe(before);
  }
  for (const empty of ['[]', '{"inventory":[]}', 'petId,quantity\n']) {
    expect((await shop.run('sandbox import -', { stdin: empty })).code).toBe(0);
    for (const format of ['json', 'csv']) {
      const { stdout } = await shop.run(`sandbox export --format ${format}`);
      expect((await shop.run('sandbox import -', { stdin: stdout })).code).toBe(0);
    }
  }
});

test('backup copies a file that is served; the copy is served as it was', async ({ shop }) => {
  const copy = join(folderOf(shop), 'copy.db');
  await served(shop, '', async ({ url, key }) => {
    const env = { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key ?? '' };
    await shop.run('inventory set 1 4711', { env });
    const { code, stdout } = await shop.run(`sandbox backup ${copy} --json`);
    expect([code, JSON.parse(stdout)]).toEqual([0, { file: copy, pets: 24 }]);
    await shop.run('inventory set 1 4712', { env });
  });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(['-wal', '-shm', '.unfinished'].filter((end) => existsSync(copy + end))).toEqual([]);
  const again = await shop.run(`sandbox backup ${copy}`);
  expect([again.code, again.stderr]).toEqual([2, `Error: ${copy} is there already; name another file.\n`]);
  await served(shop, `--file ${copy}`, async ({ url, key }) => {
    expect((await get(url, key)).text).toContain('{"petId":1,"quantity":4711,');
  });
});

test('reset --file seeds any file anew', async ({ shop }) => {
  const file = join(folderOf(shop), 'shop.db');
  await served(shop, `--file ${file} --pets 5`, async () => {});
  const { stdout } = await shop.run(`sandbox reset --file ${file} --pets 7 --ids small --json`);
  expect(JSON.parse(stdout)).toEqual({ store: file, pets: 7 });
  expect((await shop.run(`sandbox export --file ${file}`)).stdout.split('\r\n')).toHaveLength(9);
  expect((await shop.run('sandbox reset --file /nowhere.db')).code).toBe(2);
});

test('a PostgreSQL is served, filled, reset after a question, and has its keys listed', {
  timeout: 60_000,
}, async ({ shop }) => {
  const database = await temporaryDatabase();
  const store = ['--database', database];
  await served(shop, `--database ${database} --key ${given} --admin-port 0`, async ({ url, admin }) => {
    expect(JSON.parse((await get(url, given)).text)).toHaveLength(24);
    expect((await fetch(`${admin}/readyz`)).status).toBe(200);
    expect((await shop.run(['sandbox', 'import', '-', ...store], { stdin: 'id,qty\n5,6\n' })).code).toBe(2);
    const replaced = await shop.run(['sandbox', 'import', '-', '--yes', ...store], { stdin: 'id,qty\n5,6\n' });
    expect(replaced.code).toBe(0);
    expect((await get(url, given)).text).toBe('[{"petId":5,"quantity":6,"status":"available"}]');
    expect((await shop.run(['sandbox', 'reset', '--yes', ...store])).code).toBe(0);
    expect(JSON.parse((await get(url, given)).text)).toHaveLength(24);
  });
  // No command has put a key there: it has the one that it was served with.
  const { stdout } = await shop.run(['sandbox', 'keys', 'list', '--json', ...store]);
  const [only, ...more] = JSON.parse(stdout);
  expect(more).toEqual([]);
  expect((await shop.run(['sandbox', 'keys', 'revoke', only.id, ...store])).code).toBe(0);
  const backup = await shop.run(['sandbox', 'backup', 'copy.db', ...store]);
  expect([backup.code, backup.stderr]).toEqual([2, expect.stringContaining('pg_dump --schema=petstock_service')]);
});

test('a key file that has another key than before: how to end the old one is said', async ({ shop }) => {
  const [file, stock] = [join(folderOf(shop), 'key'), join(folderOf(shop), 'shop.db')];
  const options = `--key-file ${file} --file ${stock}`;
  await served(shop, options, async () => {});
  const before = readFileSync(file, 'utf8').trim();
  writeFileSync(file, given);
  let command = '';
  const { stderr } = await served(shop, options, async ({ url }) => {
    expect((await get(url, before)).status).toBe(200);
  });
  [, command = ''] = /Warning: .* had another key before, .*: petstock (.*)\n/.exec(stderr) ?? [];
  expect((await shop.run(command)).code).toBe(0);
  const again = await served(shop, options, async ({ url }) => {
    expect([(await get(url, before)).status, (await get(url, given)).status]).toEqual([401, 200]);
  });
  expect(again.stderr).not.toContain('Warning');
});

test('a database with several servers, by one address: a server that is not there is passed over', async () => {
  const database = await temporaryDatabase();
  const shop = await openShop();
  const folder = /host=([^&]+)/.exec(database)?.[1] ?? '';
  const list = `${database.replace(folder, `/nowhere,${folder}`)}&target_session_attrs=read-write`;
  expect(await shop.run(['sandbox', 'export', '--database', list, '-o', 'csv'])).toMatchObject({ code: 0 });
  await served(shop, `--database ${list} --key ${given}`, async ({ url }) => {
    const answer = await fetch(`${url}/inventory`, { headers: { Authorization: `Bearer ${given}` } });
    expect(answer.status).toBe(200);
  });
});

test('a database that does not come within 30 s: exit 2, and the password is not repeated', async () => {
  const stderr = await (await openShop()).refused(
    'sandbox serve --port 0 --database postgres://me:secret@127.0.0.1:1/x',
  );
  expect(stderr).toMatch(
    /^Waiting up to 30 s for the database: .*ECONNREFUSED.*\nError: The database can't be used: .*ECONNREFUSED/,
  );
  expect(stderr).not.toContain('secret');
});

test.runIf(canMakeFifos)(
  'a pipe that nobody writes to is no key, and Ctrl-C ends an import of it',
  async ({ shop }) => {
    const pipe = changeFile(shop, '', 'pipe');
    rmSync(pipe);
    execFileSync('mkfifo', [pipe]);
    for (const options of [`--key-file ${pipe}`, `--tls-cert ${pipe} --tls-key ${pipe}`]) {
      expect(await shop.refused(`sandbox serve --port 0 ${options}`)).toContain('is not a file');
    }
    const interruption = new AbortController();
    const importing = shop.run(`sandbox import ${pipe}`, { interrupted: interruption.signal });
    const writer = openSync(pipe, 'r+');
    interruption.abort(new InterruptedError('Interrupted'));
    expect(await importing).toMatchObject({ code: 130, stdout: '' });
    closeSync(writer);
  },
);
