import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { answers } from '../../support/scripted-service.ts';
import { errorJson, withEnv } from '../../support/shop.ts';
import { test } from '../../support/till.ts';

const down = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' };

describe('an error with --json', () => {
  test('prints the first 1000 faults of a bad file in JSON, and their total number', async ({ shop }) => {
    const stdin = `petId,quantity\n${'4,many\n'.repeat(1001)}`;
    const { stderr } = await shop.exits('inventory apply - --yes --json', 2, [], { stdin });
    const { error } = errorJson(stderr);
    expect(error).toMatchObject({ kind: 'usage', faultCount: 2001, message: expect.not.stringContaining('\n') });
    expect(error.faults).toHaveLength(1000);
    expect(error.faults[0]).toEqual({ line: 2, column: 'quantity', message: expect.any(String) });
    for (const absent of ['status', 'retryAfterSeconds', 'run']) expect(error).not.toHaveProperty(absent);
  });

  test('prints the JSON error last with --debug, after the stack trace', async ({ shop }) => {
    const { stderr } = await shop.exits('inventory get 4 --debug --json', 5, '\n│     at ', { env: down });
    expect(errorJson(stderr).error.exitCode).toBe(5);
  });

  test('prints the error of a mistaken option as JSON', async ({ shop }) => {
    for (const command of ['inventory list --json --limit', 'inventory list --nope -o json']) {
      expect(errorJson(await shop.refused(command)).error.kind).toBe('usage');
    }
  });

  test.for([
    ['api GET /nope', 9, 'petstock api --help'],
    // This hint is a command for the shell.
    ['inventory set 4 1', 1, 'export PETSTOCK_STATE_DIR="$HOME/.petstock-state"'],
  ] as const)('includes a hint in the JSON error of %s', async ([command, code, hint], { shop }) => {
    mkdirSync(join(shop.folders.state, '..'), { recursive: true });
    writeFileSync(shop.folders.state, 'no folder');
    expect(errorJson((await shop.exits(`${command} --json`, code)).stderr).error.hint).toBe(hint);
  });
});

test.for(['inventory list', 'inventory adjust 4 +1', 'orders list'])(
  'reports a 404 that is not about a pet without naming a pet: %s',
  async (command, { till }) => {
    till.service.always('GET', answers(404, {}, '{"code":"no_route","message":"No such route.","status":404}'));
    await till.exits(command, 9, [
      'Error: The service returned 404.\n│ No such route.\nHint: petstock status --env staging\n',
    ]);
  },
);

test.for([
  ['inventory set 1 5', 'PATCH', '{"code":"slow","message":"Slow down.","status":429}', { code: 'slow' }],
  ['inventory adjust 1 5', 'PATCH', 'Slow down.', { code: 'rate_limited' }],
  ['status', 'GET', 'Slow down.', { code: 'rate_limited' }],
] as const)(
  '%s --json reports the wait after its %s gets a 429 with the body %s',
  async ([command, method, text, told], { till }) => {
    till.service.always(method, answers(429, { 'Retry-After': '120' }, text));
    const { stderr } = await till.exits(`${command} --max-wait 5 --json`, 6);
    expect(errorJson(stderr).error).toMatchObject({ ...told, status: 429, exitCode: 6 });
    expect(errorJson(stderr).error.retryAfterSeconds).toBeGreaterThanOrEqual(120);
  },
);

test('prints a single line for all retries of a request if there is no terminal', async ({ shop }) => {
  shop.service.setFaults(['GET /inventory:first=2:status=503']);
  const { stderr } = await shop.exits('inventory get 1', 0);
  expect(stderr.match(/trying again \(\d of 4\)(?=\.$)/gm)).toEqual(['trying again (1 of 4)']);
  const said =
    /^▸ .*\nNo connection to the service; trying again \(1 of 4\)\.\nError: Can't reach .*\. Nothing was written\.\n/;
  await shop.exits('inventory set 4 5', 5, said, { env: down });
});

test('updates a single line for all attempts to connect on a terminal, and removes the line afterwards', async ({
  shop,
}) => {
  const env = { ...down, NO_COLOR: '1' };
  const { stderr } = await shop.run('inventory list', { env, terminal: 80 });
  const narrow = await shop.run('inventory list', { env, terminal: 40 });
  expect(narrow.stderr).toContain('No connection…, trying again (2 of 4)');
  for (const attempt of [1, 2, 3, 4]) expect(stderr).toContain(`trying again (${attempt} of 4)`);
  const [, drawn = '', ...rest] = stderr.split('\n');
  expect(drawn.match(/No connection to http:\/\/127\.0\.0\.1:1, trying again/g)?.length).toBeGreaterThanOrEqual(4);
  expect(drawn).toMatch(/\x1b\[KError: Can't reach the service/);
  expect(rest.join('\n')).not.toContain('trying again');
});

/** Commands that are refused before anything is sent, with words of the message; as an array if a word is empty. */
const refusals: readonly (readonly [command: string | readonly string[], said: string])[] = [
  ['set 4 1', '(Did you mean petstock inventory set?)'],
  ['inventory undo', '(Did you mean petstock undo?)'],
  ['config pth', '(Did you mean petstock config path?)'],
  ['inventory list --jsn', '"--jsn" (Did you mean --json?)'],
  ['help exit-code', 'The topics are exit-codes,'],
  ['inventory set', 'The petId is missing: the pet, by its id or name.'],
  ['history show', 'The run is missing: the run, as history list shows it.'],
  ['inventory set 4 +5', 'To add to the stock, use petstock inventory adjust.'],
  ['inventory set 4 5 --expect +5', '--expect: "+5" is not a quantity: leave out the plus sign'],
  ['sell', 'Unknown command "sell".'],
  ['inventory list --everything', 'Unknown option "--everything".'],
  ['inventory list --json=true', 'Option "--json" does not take a value.'],
  ['inventory list --retries=100', '--retries takes a whole number from 0 to 99, not "100".'],
  ['inventory list --color red', '--color takes auto, always or never, not "red".'],
  ['inventory get 1.5', '"1.5" is not a pet id'],
  ['inventory list --limit', 'Option "--limit <n>" needs a value.'],
  [
    'inventory list --env prod',
    'in --env. The environments are staging, production, sandbox. Did you mean "production"?',
  ],
  ['sandbox serve --fault *:explode', 'there is no part "explode"'],
  ['api GE/T /inventory', 'There is no method "GE/T"'],
  [['inventory', 'set', '4', ''], 'The quantity is empty'],
  [['inventory', 'apply', ''], 'The file name is empty.'],
];

test('refuses mistaken commands, says what is wrong, and sends nothing', async ({ shop }) => {
  for (const [command, said] of refusals) {
    const stderr = await shop.refused(command, { stdin: 'petId,quantity\n4,5\n' });
    expect(stderr, `${command}`).toContain(said);
    expect(stderr.includes('Did you mean'), `${command}`).toBe(said.includes('Did you mean'));
    expect(stderr).not.toMatch(/'[^' ]+'/);
  }
});

test('hints at what does the job of commands and options that went', async ({ shop }) => {
  for (const [command, hint] of [
    ['inventory count --list', 'ls count-*.txt'],
    ['inventory count --merge a b', 'cat aisle-3.txt aisle-4.txt | petstock inventory count'],
    ['inventory count --discard', 'rm aisle-3.txt'],
    ['inventory count --session a', 'petstock inventory count aisle-3.txt'],
    ['history list --mine', 'petstock history list --user "$USER"'],
    ['sandbox serve --database postgres://a', 'petstock sandbox serve --file sandbox.db'],
    ['config stores', 'petstock config list'],
    ['sandbox keys list', 'petstock sandbox serve --key "$KEY"'],
  ] as const) {
    expect(await shop.refused(command)).toContain(`\nHint: ${hint}\n`);
  }
});

/** Commands that are refused, and what their hints suggest. */
const suggestions: readonly (readonly [command: string, meant: string])[] = [
  ['set 4 12', 'inventory set --help'],
  ['apply stock.csv', 'inventory apply --help'],
  ['undo last', 'undo --last'],
  ['undo last --yes', 'undo --last --yes'],
  ['undo last --reason last', 'undo --last'],
  ['inventory adjust +5 4', 'inventory adjust 4 +5'],
  ['-e production inventory adjust +5 4', '-e production inventory adjust 4 +5'],
  ['inventory set Blue hamster 4 -q', "inventory set 'Blue hamster' 4 -q"],
  ['undoo 20261121T130000Z-1a2b', 'undo --help'],
  ['list', 'inventory list --help'],
  ['inventory list --lwo --limit=3', 'inventory list --help'],
  ['history list low', 'history list --help'],
  ['help list', 'inventory list --help'],
  ['inventory get', 'inventory get --help'],
  ['config get-key', 'config list'],
  ['-e sandbox config set key x', 'sandbox info'],
  ['sandbox export shop.csv', '--env sandbox inventory export'],
  ['sandbox backup copy.db', 'sandbox info'],
  ['sandbox keys create', 'sandbox serve --key "$KEY"'],
  // The last word may be a key.
  ['set-key psk_0123456789abcdefghijklmnopqrst', 'config set-key --help'],
  ['config set-ky anykeyofletters', 'config set-key --help'],
];

test('suggests the intended command after a mistaken one', async ({ shop }) => {
  for (const [command, meant] of suggestions)
    expect((await shop.refused(command)).endsWith(`\nHint: petstock ${meant}\n`), `${command} → ${meant}`).toBe(true);
});

test('reports an empty file name, and after what it was given', async ({ shop }) => {
  for (const [what, command] of [
    ['inventory export', ['inventory', 'export', '']],
    ['history export', ['history', 'export', '']],
    ['sandbox import', ['sandbox', 'import', '']],
    ['--failed-out', ['inventory', 'apply', '-', '--yes', '--failed-out', '']],
    ['--to', ['inventory', 'count', '--to', '']],
    ['--codes', ['inventory', 'count', '--yes', '--codes', '']],
    ['--file', ['sandbox', 'reset', '--file', '']],
    ['--file', ['sandbox', 'serve', '--port', '0', '--file', '']],
    ['--import', ['sandbox', 'serve', '--port', '0', '--import', '']],
    ['--data @', ['api', 'PATCH', '/inventory/4', '--data', '@']],
  ] as const) {
    const stderr = await shop.refused(command, { stdin: 'petId,quantity\n4,5\n' });
    expect(stderr, what).toMatch(/^Error: [^\n]* empty\.\n$/);
    expect(stderr).toContain(` ${what} `);
  }
});

test("makes the sandbox's key file private again, and warns", async ({ shop }) => {
  await shop.run('sandbox info');
  const file = join(shop.folders.state, 'sandbox.key');
  chmodSync(file, 0o644);
  const said = `Warning: ${file} could be read by others. It is now private (0600).\n`;
  expect((await shop.exits('--env sandbox inventory get 1', 0, said)).sent).toHaveLength(1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("suggests status, then config if the service can't be reached", async ({ shop, till }) => {
  till.service.always('GET', answers(503, {}, ''));
  await till.exits('inventory list', 5, 'Hint: petstock status --env staging\n');
  const away = withEnv(shop, down);
  await away.exits('inventory list', 5, 'Hint: petstock status --env staging\n');
  await away.exits('status', 5, 'Hint: petstock config list\n');
  await shop.run(['config', 'set-url', down.PETSTOCK_URL_STAGING]);
  const stored = { env: { PETSTOCK_URL_STAGING: undefined } };
  const hint = "Hint: petstock config set-url 'https://<your-store>/v1' --env staging\n";
  await shop.exits('status', 5, hint, stored);
});

test("suggests a command that works without the shared state if that can't be reached", async ({ shop }) => {
  const env = { PETSTOCK_STATE_URL: 'postgresql://ann@127.0.0.1:1/pets' };
  await shop.exits('state info', 5, 'Hint: petstock config list\n', { env });
  await shop.exits('config list', 0, undefined, { env });
});

test("prints the service's message, if any, in one line below the error", async ({ till }) => {
  for (const [message, words] of [
    [' busy ', '\n│ busy\n'],
    ['one\nHint: two\r', '\n│ one Hint: two\n'],
    [' ', ''],
    ['\0', ''],
  ] as const) {
    const end = till.service.always('GET', answers(400, {}, JSON.stringify({ code: 'x', message, status: 400 })));
    const { stderr } = await till.run('inventory list -q');
    end();
    const own = 'Error: The service (?:refused it|returned 400)\\.';
    expect(stderr).toMatch(new RegExp(`^${own}${words || '\n'}(?:Hint: petstock .*\n)?$`));
  }
});

test('warns about a default-store without settings', async ({ shop }) => {
  await shop.exits('config set default-store nosuch', 0, 'Warning: Nothing is stored yet for the store nosuch');
  await shop.run('config set-url https://example.com/v1 --env staging --store north');
  for (const known of ['north', 'default']) {
    expect((await shop.run(`config set default-store ${known}`)).stderr).not.toContain('Warning');
  }
  await shop.exits('config set default-store nroth', 0, 'Did you mean "north"?');
});
