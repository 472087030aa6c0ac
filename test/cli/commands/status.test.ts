import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { version } from '../../../src/shared/version.ts';
import { answering, listening } from '../../support/answering.ts';
import { changeFile, errorJson, test } from '../../support/shop.ts';

const down = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' };

test('status shows the environment, URL and key, and that the service accepts the key', async ({ shop }) => {
  const result = await shop.run('status --json');
  expect(result.code).toBe(0);
  expect(result.sent).toEqual(['GET /v1/inventory']);
  expect(JSON.parse(result.stdout)).toEqual({
    store: null,
    storeSource: null,
    env: 'staging',
    envSource: 'default',
    url: shop.service.url,
    urlSource: 'PETSTOCK_URL_STAGING',
    proxy: null,
    proxySource: null,
    key: `…${shop.service.key.slice(-4)}`,
    keySource: 'PETSTOCK_API_KEY_STAGING',
    reachable: true,
    keyAccepted: true,
    accepted: true,
    rateLimit: { limit: 1000, remaining: 999, resetAt: '2026-01-15T12:01:00.000Z' },
  });
});

test('status --offline sends nothing, and exits with 0 even without a URL and a key', async ({ shop }) => {
  await shop.run('config set-key', { stdin: 'psk_hidden_by_it' });
  expect((await shop.exits('status --offline', 0, 'PETSTOCK_API_KEY_STAGING is set')).requests).toEqual([]);
  const result = await shop.run('status --offline --json --env production');
  expect(result).toMatchObject({ code: 0, requests: [] });
  expect(JSON.parse(result.stdout)).toMatchObject({ env: 'production', url: null, key: null, reachable: null });
});

test('status exits with 4 for a wrong key, and names the source of the key', async ({ shop }) => {
  const env = { PETSTOCK_API_KEY_STAGING: 'psk_wrong-key-1234' };
  const { stdout } = await shop.exits('status -o table', 4, 'The key came from: PETSTOCK_API_KEY_STAGING.\n', { env });
  expect(stdout).toMatch(/reachable +yes/);
  expect(stdout).toMatch(/key accepted +no\b/);
  expect(stdout).not.toContain('psk_');
});

test.for([
  ['a service that is down', down, 5, { reachable: false }, "Error: Can't reach the service at http://127.0.0.1:1"],
  [
    'no key',
    { PETSTOCK_API_KEY_STAGING: undefined },
    4,
    { key: null },
    'Hint: petstock config set-key --env staging\n',
  ],
  ['no address', { PETSTOCK_URL_STAGING: undefined }, 2, { url: null }, 'petstock config set-url'],
] as const)('status reports %s (%o), and exits with %i', async ([what, env, code, found, said], { shop }) => {
  const { requests } = await shop.exits('status', code, said, { env });
  expect(await shop.json('status --json', { env })).toMatchObject(found);
  if (what !== 'a service that is down') expect(requests).toEqual([]);
});

test('status reads only the beginning of an endless list', async ({ shop }) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('[{"petId":0,"quantity":3,"status":"sold"}');
    const more = ',{"petId":7,"quantity":3,"status":"available"}'.repeat(1000);
    const write = () => {
      while (!response.destroyed && response.write(more));
    };
    response.on('drain', write);
    write();
  });
  const { stdout } = await shop.exits('status --json', 0, [], {
    env: { PETSTOCK_URL_STAGING: await listening(server) },
  });
  expect(JSON.parse(stdout)).toMatchObject({ reachable: true, keyAccepted: true });
});

const foreign = ['<!doctype html><title>Log in</title>', '{"status":"ok"}', '[{"name":"Rex"}]', ''];

test.for(foreign)('status reports the service as unreachable after a 200 with %j', async (body, { shop }) => {
  const env = { PETSTOCK_URL_STAGING: await answering(200, body) };
  const { stdout } = await shop.exits('status -o table', 1, [], { env });
  expect(stdout).toMatch(/^reachable +no$/m);
  expect(stdout).toMatch(/^key accepted +not known$/m);
});

describe('--verbose', () => {
  test('status --verbose prints details, and sends no request with --offline', async ({ shop }) => {
    const offline = await shop.run('status --verbose --offline --json');
    expect(offline).toMatchObject({ code: 0, requests: [] });
    expect(JSON.parse(offline.stdout).details).toMatchObject({
      clock: null,
      state: { engine: null, sound: null },
      folders: { state: { rights: 'missing' } },
    });
    await shop.run('inventory set 1 5');
    const env = { LANG: 'de_DE.UTF-8', PETSTOCK_PAGER: 'less' };
    const result = await shop.exits('status --verbose -o tsv', 0, [], { env });
    expect(result.sent).toEqual(['GET /v1/inventory']);
    for (const fact of [
      /^runtime\tnode \d+\.\d+\.\d+\tlinux /m,
      /^state folder\tread and write, 0700, .* GB free\t/m,
      /^state\tsqlite, schema \d+, 1 run, sound\t/m,
      /^clock\tthe same as the service's, within /m,
      /^locale\tde_DE\.UTF-8\t$/m,
      /^variables\t.*PETSTOCK_API_KEY_STAGING, PETSTOCK_PAGER, PETSTOCK_RUNTIME_DIR, PETSTOCK_URL_STAGING/m,
    ])
      expect(result.stdout).toMatch(fact);
    for (const fact of [`version\t${version}`, `config folder\tnot created yet\t${shop.folders.config}\n`])
      expect(result.stdout).toContain(fact);
    const { details, ...rest } = await shop.json('status --verbose --json');
    expect(rest).toMatchObject({ reachable: true, keyAccepted: true });
    expect(details).toMatchObject({
      program: { version, isExecutable: false },
      folders: { state: { path: shop.folders.state, rights: 'read and write', mode: '0700', isOwn: true } },
      state: { engine: 'sqlite', sound: true, problems: [] },
      tls: { checksCertificates: true, caFile: null },
      terminal: { streams: [], columns: null, color: false },
      completion: [],
    });
    expect((await shop.json('status --json')).details).toBe(undefined);
  });

  test.for([
    [183_000, /\t18[23](\.\d)? s ahead of the service's/],
    [-7_200_000, /\t720\d(\.\d)? s behind the service's/],
  ] as const)('status --verbose reports a clock that is off by %d ms', async ([step, expected], { shop }) => {
    const date = new Date(shop.clock.now() - step).toUTCString();
    const url = await answering(200, '[{"petId":1,"quantity":2,"status":"sold"}]', { date });
    const { stdout } = await shop.run('status --verbose -o tsv', { env: { PETSTOCK_URL_STAGING: url } });
    expect(stdout).toMatch(expected);
  });

  test('status --verbose reports a service that is down, and prints details without a URL', async ({ shop }) => {
    const json = await shop.exits('status --verbose --json', 5, [], { env: down });
    expect(JSON.parse(json.stdout)).toMatchObject({ reachable: false, details: { clock: null } });
    const noUrl = await shop.exits('status --verbose -o tsv', 2, [], { env: { PETSTOCK_URL_STAGING: undefined } });
    expect(noUrl.stdout).toContain('version\t');
  });

  test('status --verbose prints a report without asking the service if the state is unusable', async ({ shop }) => {
    const folders = { ...shop.folders, state: changeFile(shop, 'a file', 'state-file') };
    const file = await shop.exits('status --verbose --offline -o tsv', 0, [], { folders });
    expect(file.stdout).toContain("state folder\tcan't be used: it is not a folder");
    const unasked = { folders, env: { PETSTOCK_RUNTIME_DIR: folders.state } };
    const { code, stdout, requests } = await shop.run('status --verbose --json', unasked);
    expect({ code, requests, ...JSON.parse(stdout) }).toMatchObject({ code: 1, requests: [], reachable: null });
    mkdirSync(shop.folders.state, { mode: 0o700 });
    writeFileSync(join(shop.folders.state, 'state.db'), 'SQLite format 3\0 of something else', { mode: 0o600 });
    await shop.exits('status --verbose --offline --json', 0);
  });

  test('status --verbose reports where completion is installed', async ({ shop }) => {
    const { run, folders } = shop;
    const bashrc = changeFile(
      shop,
      '# source <(petstock completion zsh)\nsource <(petstock completion bash)\n',
      '.bashrc',
    );
    changeFile(shop, '# source <(petstock completion zsh)\n', '.zshrc');
    const { stdout } = await run('status --verbose --offline --json', { env: { HOME: dirname(folders.state) } });
    expect(JSON.parse(stdout).details.completion).toEqual([{ shell: 'bash', path: bashrc }]);
  });

  test.for(['', ' --json', ' --offline --debug'])('status --verbose%s shows no secret', async (options, { shop }) => {
    const secrets = ['k3yof4proxy', 'pa55ofstate', 'tokeninoptions', 'k3yofproduction', shop.service.key];
    const env = {
      HTTPS_PROXY: `http://user:${secrets[0]}@proxy.example:3128`,
      PETSTOCK_STATE_URL: `postgres://ada:${secrets[1]}@127.0.0.1:1/petstock`,
      NODE_OPTIONS: `--title=${secrets[2]}`,
      PETSTOCK_API_KEY_PRODUCTION: `psk_${secrets[3]}`,
      PETSTOCK_URL_PRODUCTION: 'https://shop.example/v1',
    };
    for (const environment of ['staging', 'production']) {
      // Nothing is sent to the service, because the state is opened first and can't be reached.
      const { stdout, stderr } = await shop.run(`status --verbose --env ${environment}${options}`, { env });
      expect(stdout).toContain('127.0.0.1:1');
      for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
    }
    const withUrl = { PETSTOCK_URL_STAGING: `https://ada:${secrets[0]}@shop.example/v1` };
    const { stdout, stderr } = await shop.run(`status --verbose${options}`, { env: withUrl });
    expect(stdout + stderr).not.toContain(secrets[0]);
  });
});

test('status shows local time on a terminal, and UTC elsewhere', async ({ shop }) => {
  await shop.run('inventory list');
  const shown = await shop.run('status --offline', { terminal: 100 });
  expect(shown.stdout).toMatch(/999 of 1,000 left, resets at 07:01:00\b/);
  expect((await shop.run('status --offline')).stdout).toMatch(/\t1000\t999\t2026-01-15T12:01:00\.000Z\n$/);
});

test('prints status as JSON even if the service is down or refuses the key', async ({ shop }) => {
  for (const [env, code, found] of [
    [{ PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' }, 5, { reachable: false, keyAccepted: null }],
    [{ PETSTOCK_API_KEY_STAGING: 'psk_0123456789abcdefghij' }, 4, { reachable: true, keyAccepted: false }],
  ] as const) {
    const { stdout, stderr } = await shop.exits('status --json', code, [], { env });
    expect(JSON.parse(stdout)).toMatchObject(found);
    expect(errorJson(stderr).error.exitCode).toBe(code);
  }
});
