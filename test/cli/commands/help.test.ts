import { describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { openShop } from '../../support/shop.ts';

const commands = [
  'inventory list',
  'inventory get',
  'inventory set',
  'inventory adjust',
  'inventory diff',
  'inventory watch',
  'history list',
  'history show',
  'history export',
  'history prune',
  'state info',
  'state check',
  'state grant',
  'undo',
  'limits',
  'status',
  'pets get',
  'orders list',
  'api',
  'config set-key',
  'config unset-key',
  'config set-url',
  'config set',
  'config get',
  'config unset',
  'config list',
  'config path',
  'sandbox serve',
  'sandbox reset',
  'sandbox info',
  'completion',
];

test.each(commands)('%s has help with an example of itself', async (command) => {
  const shop = await openShop();
  const { code, stdout, stderr } = await shop.run(`${command} --help`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`Usage: petstock ${command}`);
  expect(stdout.slice(stdout.indexOf('Examples:'))).toContain(`petstock ${command}`);
  expect((await shop.run(`help ${command}`)).stdout).toBe(stdout);
});

test('help environment names every variable of the contract', async () => {
  const shop = await openShop();
  const { stdout } = await shop.run('help environment');
  const names = ['ENV', 'STORE', 'URL_STAGING', 'API_KEY_STAGING', 'API_KEY', 'CONFIG_DIR', 'STATE_DIR', 'STATE_URL'];
  for (const name of [...names, 'PAGER', 'SERVE_PORT']) expect(stdout).toContain(`PETSTOCK_${name}`);
  for (const name of ['FORCE_COLOR', 'NO_COLOR', 'TERM=dumb']) expect(stdout).toContain(name);
});

test.each(['exit-codes', 'environment', 'output', 'files'])('help %s', async (topic) => {
  const shop = await openShop();
  const { code, stdout, stderr } = await shop.run(`help ${topic}`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n').length).toBeGreaterThan(5);
});

test('the exit codes in the help are those of the program', async () => {
  const shop = await openShop();
  const { stdout } = await shop.run('help exit-codes');
  const told = [...stdout.matchAll(/^ *(\d+) {2}/gm)].map(([, code]) => Number(code));
  expect(told).toEqual(Object.values(exitCodes));
});

test.each(['', '--help', 'help', 'inventory', 'config', 'sandbox', 'pets', 'orders', 'history', 'state'])(
  '"%s" shows help',
  async (words) => {
    const shop = await openShop();
    const { code, stdout } = await shop.run(words.split(' ').filter(Boolean));
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: petstock');
  },
);

test('-V as the value of an option is not taken for the question', async () => {
  const shop = await openShop();
  expect(await shop.run('inventory set 4 7 --reason -V')).toMatchObject({ code: 2, stdout: '', requests: [] });
  expect(await shop.run('inventory list -V')).toMatchObject({ code: 0, requests: [] });
});

test('--version is the version alone', async () => {
  const shop = await openShop();
  expect(await shop.run('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

describe('what is mistyped is exit 2 with the nearest name', () => {
  test.each([
    ['inventry list', 'inventory'],
    ['inventory lsit', 'list'],
    ['inventory list --jsn', '--json'],
    ['config set low-stok 3', 'low-stock'],
    ['help exit-code', 'exit-codes'],
    ['inventory set 4', 'quantity'],
    ['inventory get', 'petId'],
  ])('%s', async (command, told) => {
    const shop = await openShop();
    const result = await shop.run(command);
    expect(result).toMatchObject({ code: 2, stdout: '', requests: [] });
    expect(result.stderr).toContain(told);
  });
});
