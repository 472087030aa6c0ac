import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { version } from '../../../src/shared/version.ts';
import { type Answerer, answer, openServer } from '../../api/server.ts';
import { openShop, sent, test } from '../../support/shop.ts';

test('tells environment, address, key, and that the service accepts it', async ({ shop }) => {
  const result = await shop.run('status --json');
  expect(result.code).toBe(0);
  expect(sent(result)).toEqual(['GET /v1/inventory']);
  expect(JSON.parse(result.stdout)).toEqual({
    store: null,
    storeSource: null,
    env: 'staging',
    envSource: 'default',
    url: shop.service.url,
    urlSource: 'PETSTOCK_URL_STAGING',
    key: `…${shop.service.key.slice(-4)}`,
    keySource: 'PETSTOCK_API_KEY_STAGING',
    proxy: null,
    proxySource: null,
    reachable: true,
    keyAccepted: true,
    rateLimit: { limit: 1000, remaining: 999, resetAt: '2026-01-15T12:01:00.000Z' },
  });
});

test('--offline sends nothing, and is no failure without address and key', async ({ shop }) => {
  expect(await shop.run('status --offline')).toMatchObject({ code: 0, requests: [] });
  const result = await shop.run('status --offline --json --env production');
  expect(result).toMatchObject({ code: 0, requests: [] });
  expect(JSON.parse(result.stdout)).toMatchObject({ env: 'production', url: null, key: null, reachable: null });
});

test('a wrong key is a finding, and exit 4', async ({ shop }) => {
  const result = await shop.run('status -o table', { env: { PETSTOCK_API_KEY_STAGING: 'psk_wrong-key-1234' } });
  expect(result.code).toBe(4);
  expect(result.stdout).toMatch(/reachable +yes/);
  expect(result.stdout).toMatch(/key accepted +no\b/);
  expect(result.stdout).not.toContain('psk_');
  expect(result.stderr).toContain('The key came from: PETSTOCK_API_KEY_STAGING.\n');
});

test('a service that is down is a finding, and exit 5', async ({ shop }) => {
  const env = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' };
  const result = await shop.run('status -o tsv', { env });
  expect(result.code).toBe(5);
  expect(result.stdout).toContain('reachable\tno\t');
  expect(result.stderr).toContain("Error: Can't reach the service at http://127.0.0.1:1");
});

test('no key is exit 4 and no address exit 2, with the report all the same', async ({ shop }) => {
  const noKey = await shop.run('status', { env: { PETSTOCK_API_KEY_STAGING: undefined } });
  expect(noKey).toMatchObject({ code: 4, requests: [] });
  expect(noKey.stdout).toContain('key\tnot set');
  expect(noKey.stderr).toContain('Hint: petstock config set-key --env staging\n');
  const noUrl = await shop.run('status', { env: { PETSTOCK_URL_STAGING: undefined } });
  expect(noUrl).toMatchObject({ code: 2, requests: [] });
  expect(noUrl.stderr).toContain('petstock config set-url');
});

/** Items without an end. */
const endless: Answerer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('[{"petId":0,"quantity":3,"status":"sold"}');
  const more = ',{"petId":7,"quantity":3,"status":"available"}'.repeat(1000);
  const write = () => {
    while (!response.destroyed && response.write(more));
  };
  response.on('drain', write);
  write();
};

test('reads the beginning of the list, not all of it, and drops the connection', async ({ shop }) => {
  const server = await openServer(endless);
  const result = await shop.run('status --json', { env: { PETSTOCK_URL_STAGING: server.url } });
  expect(JSON.parse(result.stdout)).toMatchObject({ reachable: true, keyAccepted: true });
  expect(result.code).toBe(0);
});

test.for([
  ['a page of a network that wants a login', '<!doctype html><title>Log in</title>'],
  ['JSON of something else', '{"status":"ok"}'],
  ['a list of something else', '[{"name":"Rex"}]'],
  ['nothing', ''],
] as const)('%s is not the service, though it answers 200', async ([_what, body], { shop }) => {
  const server = await openServer(answer(200, body));
  const result = await shop.run('status -o tsv', { env: { PETSTOCK_URL_STAGING: server.url } });
  expect(result.code).toBe(1);
  expect(result.stdout).toContain('reachable\tno\t');
  expect(result.stdout).toContain('key accepted\tnot known\t');
});

describe('--verbose says what a report of a fault needs', () => {
  test('for people, in one request', async ({ shop }) => {
    await shop.run('inventory set 1 5');
    const result = await shop.run('status --verbose -o tsv', { env: { LANG: 'de_DE.UTF-8', PETSTOCK_PAGER: 'less' } });
    expect(result.code).toBe(0);
    expect(sent(result)).toEqual(['GET /v1/inventory']);
    const fact = (name: string) => result.stdout.split('\n').find((line) => line.startsWith(`${name}\t`)) ?? '';
    expect(fact('version')).toContain(version);
    expect(fact('runtime')).toMatch(/^runtime\tnode \d+\.\d+\.\d+\tlinux /);
    expect(fact('config folder')).toBe(`config folder\tnot made yet\t${shop.folders.config}`);
    expect(fact('state folder')).toMatch(/^state folder\tread and write, 0700, .* GB free\t/);
    expect(fact('state')).toMatch(/^state\tsqlite, schema \d+, 1 run, sound\t/);
    expect(fact('clock')).toMatch(/^clock\tas the service's, within /);
    expect(fact('locale')).toBe('locale\tde_DE.UTF-8\t');
    expect(fact('variables')).toContain('PETSTOCK_API_KEY_STAGING, PETSTOCK_PAGER, PETSTOCK_URL_STAGING');
  });

  test('for programs', async ({ shop }) => {
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

  test('makes nothing and sends nothing with --offline', async ({ shop }) => {
    const result = await shop.run('status --verbose --offline --json');
    expect(result).toMatchObject({ code: 0, requests: [] });
    expect(JSON.parse(result.stdout).details).toMatchObject({ clock: null, state: { engine: null, sound: null } });
    const { folders } = JSON.parse(result.stdout).details;
    expect(folders.state.rights).toBe('missing');
  });

  test.for([
    [183_000, /\t18[23](\.\d)? s ahead of the service's/],
    [-7_200_000, /\t720\d(\.\d)? s behind the service's/],
  ] as const)('a clock that is off by %d ms', async ([step, expected], { shop }) => {
    const server = await openServer((response) => {
      response.setHeader('date', new Date(shop.clock.now() - step).toUTCString());
      return answer(200, '[{"petId":1,"quantity":2,"status":"sold"}]')(response);
    });
    const { stdout } = await shop.run('status --verbose -o tsv', { env: { PETSTOCK_URL_STAGING: server.url } });
    expect(stdout).toMatch(expected);
  });

  test('also where the service is down, and where there is no address', async ({ shop }) => {
    const down = await shop.run('status --verbose --json', { env: { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' } });
    expect(down.code).toBe(5);
    expect(JSON.parse(down.stdout)).toMatchObject({ reachable: false, details: { clock: null } });
    const noUrl = await shop.run('status --verbose -o tsv', { env: { PETSTOCK_URL_STAGING: undefined } });
    expect(noUrl.code).toBe(2);
    expect(noUrl.stdout).toContain('version\t');
  });

  test('also where the state folder can not be used, or the state is not one', async ({ shop }) => {
    await mkdir(dirname(shop.folders.state), { recursive: true });
    await writeFile(shop.folders.state, 'a file');
    const file = await shop.run('status --verbose --offline -o tsv');
    expect(file.code).toBe(0);
    expect(file.stdout).toContain("state folder\tcan't be used: it is not a folder");
    const other = await openShop();
    await mkdir(other.folders.state, { recursive: true, mode: 0o700 });
    await writeFile(join(other.folders.state, 'state.db'), 'SQLite format 3\0 of something else', { mode: 0o600 });
    expect(await other.run('status --verbose --offline --json')).toMatchObject({ code: 0 });
  });

  test('where completion is installed', async ({ shop }) => {
    const home = dirname(shop.folders.state);
    await mkdir(home, { recursive: true });
    await writeFile(join(home, '.bashrc'), '# source <(petstock completion zsh)\nsource <(petstock completion bash)\n');
    await writeFile(join(home, '.zshrc'), '# source <(petstock completion zsh)\n');
    const { stdout } = await shop.run('status --verbose --offline --json', { env: { HOME: home } });
    expect(JSON.parse(stdout).details.completion).toEqual([{ shell: 'bash', path: join(home, '.bashrc') }]);
  });

  test.for(['', ' --json', ' --offline', ' --offline --json', ' --debug'])(
    'shows no secret%s',
    async (options, { shop }) => {
      const secrets = ['k3yof4proxy', 'pa55ofstate', 'tokeninoptions', 'k3yofproduction', shop.service.key];
      const env = {
        HTTPS_PROXY: `http://user:${secrets[0]}@proxy.example:3128`,
        PETSTOCK_STATE_URL: `postgres://ada:${secrets[1]}@127.0.0.1:1/petstock`,
        NODE_OPTIONS: `--title=${secrets[2]}`,
        PETSTOCK_API_KEY_PRODUCTION: `psk_${secrets[3]}`,
        PETSTOCK_URL_PRODUCTION: 'https://shop.example/v1',
      };
      for (const environment of ['staging', 'production']) {
        // Nothing leaves this machine: the state is asked first, and can't be reached.
        const { stdout, stderr } = await shop.run(`status --verbose --env ${environment}${options}`, { env });
        expect(stdout).toContain('127.0.0.1:1');
        for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
      }
      const withUrl = { PETSTOCK_URL_STAGING: `https://ada:${secrets[0]}@shop.example/v1` };
      const { stdout, stderr } = await shop.run(`status --verbose${options}`, { env: withUrl });
      expect(stdout + stderr).not.toContain(secrets[0]);
    },
  );
});

test('on a terminal the time is that of the clock on the wall, elsewhere it is for programs', async ({ shop }) => {
  await shop.run('inventory list');
  const shown = await shop.run('status --offline', { terminal: 100 });
  expect(shown.stdout).toMatch(/999 of 1,000 left, resets at 07:01:00\b/);
  const piped = await shop.run('status --offline');
  expect(piped.stdout).toContain('999 of 1000 left, resets at 2026-01-15T12:01:00.000Z');
});
