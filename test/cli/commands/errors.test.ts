import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { answering } from '../../support/answering.ts';
import { answers } from '../../support/scripted-actions.ts';
import { errorJson, openShop, sent } from '../../support/shop.ts';
import { test } from '../../support/till.ts';

describe('with --json an error is all that stderr has', () => {
  test('a bad file has its first thousand faults, and how many there are', async ({ shop }) => {
    const stdin = `petId,quantity\n${'4,many\n'.repeat(1001)}`;
    const { code, stderr } = await shop.run('inventory apply - --yes --json', { stdin });
    const { error } = errorJson(stderr);
    expect({ code, kind: error.kind, faultCount: error.faultCount }).toEqual({
      code: 2,
      kind: 'usage',
      faultCount: 2001,
    });
    expect(error.faults).toHaveLength(1000);
    expect(error.faults[0]).toEqual({ line: 2, column: 'quantity', message: expect.any(String) });
    expect(error.message).not.toContain('\n');
  });

  test('it is the last line with --debug, too, which shows where a failure comes from before it', async ({ shop }) => {
    const env = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' };
    const { code, stderr } = await shop.run('inventory get 4 --debug --json', { env });
    expect(code).toBe(5);
    expect(stderr).toContain('\n│     at ');
    expect(errorJson(stderr).error.exitCode).toBe(code);
  });

  test('a success still says where it wrote and what is left', async ({ shop }) => {
    const { stderr } = await shop.run('inventory set 4 1 --json');
    expect(stderr).toMatch(/^▸ staging · .*\nNot known what it was before.*\nRate limit: 999 of 1000 left/);
  });
});

describe('a 429 that asks to wait for longer than the command may', () => {
  const commands = ['inventory set 1 5', 'inventory adjust 1 5', 'inventory set 1=5 2=6 --yes'];
  const wait = { 'Retry-After': '120' };

  test.for(commands)("%s: has the service's own code, message and status in JSON", async (command, { till }) => {
    till.service.always('PATCH', answers(429, wait, '{"code":"slow","message":"Slow down.","status":429}'));
    const { code, stderr } = await till.run(`${command} --max-wait 5 --json`);
    expect(code).toBe(6);
    expect(errorJson(stderr).error).toMatchObject({ code: 'slow', message: 'Slow down.', status: 429, exitCode: 6 });
  });

  test.for([...commands, 'inventory list', 'status'])(
    '%s: has the status without a body',
    async (command, { till }) => {
      till.service.always(/set|adjust/.test(command) ? 'PATCH' : 'GET', answers(429, wait, 'Slow down.'));
      const { code, stderr } = await till.run(`${command} --max-wait 5 --json`);
      expect(code).toBe(6);
      expect(errorJson(stderr).error).toMatchObject({ code: 'rate_limited', status: 429, exitCode: 6 });
      expect(errorJson(stderr).error.retryAfterSeconds).toBeGreaterThanOrEqual(120);
    },
  );
});

test('an error of any length is a line', async ({ shop }) => {
  const body = JSON.stringify({ code: 'c', message: 'long '.repeat(10_000), status: 400 });
  const env = { PETSTOCK_URL_STAGING: await answering(400, body) };
  const { code, stderr } = await shop.run('inventory list', { env });
  expect(code).toBe(10);
  expect(stderr.length).toBeLessThan(1500);
});

test('off a terminal one line tells that a request is tried again', async () => {
  const shop = await openShop({ faults: ['GET /inventory:first=2:status=503'] });
  const { code, stderr } = await shop.run('inventory get 1');
  expect(code).toBe(0);
  expect(stderr.match(/trying again \(\d of 4\)(?=\.$)/gm)).toEqual(['trying again (1 of 4)']);
  const down = { env: { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' } };
  const write = await shop.run('inventory set 4 5', down);
  expect(write.stderr).toMatch(
    /^▸ .*\nNo connection to the service, trying again \(1 of 4\)\.\nError: Can't reach .*\. Nothing was written\.\n/,
  );
});

test('at a terminal all attempts without a connection change one line, which is gone in the end', async ({ shop }) => {
  const env = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1', NO_COLOR: '1' };
  const { stderr } = await shop.run('inventory list', { env, terminal: 80 });
  const narrow = await shop.run('inventory list', { env, terminal: 40 });
  expect(narrow.stderr).toContain('No connection…, trying again (2 of 4)');
  for (const attempt of [1, 2, 3, 4]) expect(stderr).toContain(`trying again (${attempt} of 4)`);
  const [, drawn = '', ...rest] = stderr.split('\n');
  expect(drawn.match(/No connection to http:\/\/127\.0\.0\.1:1, trying again/g)?.length).toBeGreaterThanOrEqual(4);
  expect(drawn).toMatch(/\x1b\[KError: Can't reach the service/);
  expect(rest.join('\n')).not.toContain('trying again');
});

test.for([
  ['list', 'petstock inventory list'],
  ['ls', 'petstock inventory list'],
  ['low', 'petstock inventory list --low'],
  ['set 4 1', 'petstock inventory set'],
  ['serve', 'petstock sandbox serve'],
  ['inventory undo', 'petstock undo'],
  ['history undo', 'petstock undo'],
  ['inventroy list', 'petstock inventory'],
  ['config pth', 'petstock config path'],
  ['inventory list --production', '--env production'],
  ['inventory list --sumary', '--summary'],
  ['inventory list --jsn', '--json'],
] as const)('petstock %s points to %s', async ([command, meant], { shop }) => {
  expect(await shop.refused(command)).toContain(`(Did you mean ${meant}?)`);
});

test.for([
  'sell',
  'search',
  'inventory show',
  'buy 4',
  'inventory list --everything',
  'inventory list --nope',
  'orders get',
  'inventory list -z',
])('nothing is guessed for %s', async (command, { shop }) => {
  expect(await shop.run(command)).toMatchObject({ code: 2, stderr: expect.not.stringContaining('Did you mean') });
});

test.for(['--json=true', '--yes=false', '--summary='])('%s: that a flag takes no value', async (option, { shop }) => {
  expect(await shop.refused(`inventory list ${option}`)).toContain(
    `Option "${option.replace(/=.*/, '')}" takes no value.`,
  );
});

test.for([
  [['inventory', 'export', '']],
  [['inventory', 'apply', '']],
  [['inventory', 'apply', '-', '--yes', '--failed-out', '']],
  [['inventory', 'count', '--to', '']],
  [['history', 'export', '']],
] as const)('a file without a name is exit 2, and nothing is sent: %j', async ([command], { shop }) => {
  expect(await shop.refused(command, { stdin: 'petId,quantity\n4,5\n' })).toMatch(/name.* is empty\.\n/);
});

test("the sandbox's key is made private again, with a warning", async ({ shop }) => {
  await shop.run('sandbox info');
  const file = join(shop.folders.state, 'sandbox.key');
  chmodSync(file, 0o644);
  const result = await shop.run('--env sandbox inventory get 1');
  expect(sent(result)).toHaveLength(1);
  expect(result.stderr).toContain(`Warning: ${file} could be read by others; it is now private (0600)\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
