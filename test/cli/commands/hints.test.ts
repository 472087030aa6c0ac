import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { scriptedService } from '../../support/scripted-service.ts';
import { errorJson, test } from '../../support/shop.ts';

test('a state folder that can not be used: the hint is a command that runs as it stands', async ({ shop }) => {
  mkdirSync(join(shop.folders.state, '..'), { recursive: true });
  writeFileSync(shop.folders.state, 'no folder');
  const { code, stderr } = await shop.run('inventory set 4 1 --json');
  expect(code).toBe(1);
  expect(errorJson(stderr).error.hint).toBe('export PETSTOCK_STATE_DIR="$HOME/.petstock-state"');
});

test('a 404 of api is about the path', async ({ shop }) => {
  const { code, stderr } = await shop.run('api GET /nope --json');
  expect(code).toBe(9);
  expect(errorJson(stderr).error.hint).toBe('petstock api --help');
});

test('what was not done is said of the command that did not do it', async ({ shop }) => {
  await shop.run('inventory list');
  const limits = await shop.run('limits clear');
  expect(limits.stderr).toContain('Nothing was forgotten; pass --yes');
  await shop.run('inventory set 4 1');
  const prune = await shop.run('history prune --before 2030-01-01');
  expect(prune.stderr).not.toContain('Nothing was sent');
});

test('of a service that can not be reached, or fails, the hint is petstock status', async ({ shop }) => {
  const refuse = async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  };
  const list = await shop.run('inventory list', { around: refuse });
  expect(list).toMatchObject({ code: 5, stderr: expect.stringContaining('Hint: petstock status --env staging\n') });
  const status = await shop.run('status', { around: refuse });
  expect(status).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('Hint: petstock status --verbose --env staging'),
  });
  const verbose = await shop.run('status --verbose', { around: refuse });
  expect(verbose.stderr).toContain('Hint: petstock config list\n');
  await shop.run(['config', 'set-url', shop.service.url]);
  const env = { PETSTOCK_URL_STAGING: undefined };
  const stored = await shop.run('status --verbose', { around: refuse, env });
  expect(stored.stderr).toContain("Hint: petstock config set-url 'https://<your-store>/v1' --env staging\n");
  const service = await scriptedService();
  service.always('GET', ({ answer }) => answer(503, ''));
  const failing = await shop.run('inventory list', { env: service.env });
  expect(failing).toMatchObject({ code: 5, stderr: expect.stringContaining('Hint: petstock status --env staging\n') });
});

test('a message begins with a capital, whoever worded it', async ({ shop }) => {
  const empty = await shop.run(['inventory', 'set', '4', '']);
  expect(empty.stderr).toMatch(/^Error: The quantity is empty/);
  for (const [status, message] of [
    [400, 'The service refused it.'],
    [401, 'The service did not accept the key.'],
    [404, 'The service refused it.'],
    [500, 'The service failed (500).'],
  ] as const) {
    const service = await scriptedService();
    service.always('GET', ({ answer }) => answer(status, `{"code":"x","message":"nope","status":${status}}`));
    const { stderr } = await shop.run('inventory list -q', { env: service.env });
    expect(stderr).toMatch(new RegExp(`^Error: ${message.replace(/[().]/g, '\\$&')}.*\n│ nope\n`));
  }
});

test('config set default-store warns of a store that nothing is stored for', async ({ shop }) => {
  const unknown = await shop.run('config set default-store nosuch');
  expect(unknown.code).toBe(0);
  expect(unknown.stderr).toContain('Warning: nothing is stored for a store nosuch yet');
  await shop.run('config set-url https://example.com/v1 --env staging --store north');
  const known = await shop.run('config set default-store north');
  expect(known.stderr).not.toContain('Warning');
  expect((await shop.run('config set default-store nroth')).stderr).toContain('Did you mean "north"?');
  expect((await shop.run('config set default-store default')).stderr).not.toContain('Warning');
});

test('what the system refuses is said in words, not in its own', async ({ shop }) => {
  const full = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  };
  expect(await shop.run('inventory list -q', { onStdout: full })).toMatchObject({
    code: 1,
    stderr: 'Error: There is no space left on the disk; make room and try again.\n',
  });
});

const options = { terminal: 100, env: { NO_COLOR: '1' } };

test('status says the limit once', async ({ shop }) => {
  const { stdout, stderr } = await shop.run('status', options);
  expect(`${stdout}${stderr}`.match(/rate limit/gi)).toHaveLength(1);
  expect((await shop.run('status --json')).stderr).toContain('Rate limit: ');
});

test.for([
  ['inventory list --jsn', /"--jsn"/],
  ['inventory list --color red', /"red"/],
  ['inventory get 1.5', /"1\.5"/],
  ['inventory list --fields name', /"name"/],
  ['inventory list --header=yes', /"--header"|"yes"/],
  ['inventory list --limit', /"--limit"|--limit/],
  ['inventory get', /petId/],
  ['history list --state lost', /"lost"/],
  ['config set max-zero many', /max-zero/],
  ['sandbox serve --fault *:explode', /"explode"/],
  ['api GE/T /inventory', /GE\/T/],
] as const)('%s: one kind of quotes', async ([command, quote], { shop }) => {
  const stderr = await shop.refused(command);
  expect(stderr).toMatch(quote);
  expect(stderr).not.toMatch(/'[^' ]+'/);
});
