import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { InterruptedError } from '../../../src/shared/errors.ts';
import { canMakeFifos } from '../../support/capabilities.ts';
import { type Action, answers, commitThenDrop } from '../../support/scripted-service.ts';
import { changeFile, errorJson } from '../../support/shop.ts';
import { test } from '../../support/till.ts';

test('prints the response body of api with exact ids, after the status and headers with -i', async ({ shop }) => {
  const plain = await shop.exits('api GET /inventory', 0);
  expect(plain.sent).toEqual(['GET /v1/inventory']);
  expect(plain.stdout).toContain('{"petId":9223372036854775807,"quantity":');
  const { stdout } = await shop.exits('api GET /inventory -i', 0);
  const [head = '', body = ''] = stdout.split('\n\n');
  expect(body).toBe(plain.stdout);
  for (const line of [/^HTTP\/1.1 200 OK\n/, /^content-type: application\/json/m, /^x-ratelimit-limit: \d+$/m])
    expect(head).toMatch(line);
  expect(stdout).not.toContain(shop.service.key);
  const missing = await shop.exits('api GET /nothing --include', 9);
  expect(missing.stdout).toMatch(/^HTTP\/1.1 404 Not Found\n/);
});

test('prints a banner for an api write, and sends its body unchanged', async ({ shop }) => {
  const command = ['api', 'patch', 'inventory/9007199254740993', '--data', '{ "quantity": 3 }'];
  const result = await shop.exits(command, 0, `▸ staging · ${shop.service.url}\n`);
  expect(result.stdout).toBe('{"petId":9007199254740993,"quantity":3,"status":"sold"}');
  expect(result.sent).toEqual(['PATCH /v1/inventory/9007199254740993 { "quantity": 3 }']);
  expect(result.requests[0]?.headers['content-type']).toBe('application/json');
});

test('adds headers with api -H, and joins values of the same name', async ({ shop }) => {
  const headers = ['-H', 'X-Trace: a', '-H', 'x-trace:b', '--header', 'Accept: text/csv'];
  const result = await shop.run(['api', 'GET', '/inventory', ...headers]);
  expect(result.requests[0]?.headers).toMatchObject({ 'x-trace': 'a, b', accept: 'text/csv' });
});

test('refuses invalid or reserved headers in api -H before sending anything', async ({ shop }) => {
  for (const header of [
    'Authorization: Bearer psk_other',
    'content-length: 3',
    'no colon',
    ': empty',
    'a: b\r\nc: d',
    'ä: b',
  ])
    expect(await shop.refused(['api', 'GET', '/inventory', '-H', header]), header).not.toContain('psk_other');
});

test.runIf(canMakeFifos)('exits with 130 on Ctrl-C while it reads a pipe that nobody writes to', async ({ shop }) => {
  const pipe = join(shop.folders.state, '..', 'pipe');
  execFileSync('mkfifo', [pipe]);
  onTestFinished(() => closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)));
  const controller = new AbortController();
  const running = [
    `api PATCH /inventory/4 --data @${pipe}`,
    `inventory apply ${pipe} --yes`,
    `inventory diff ${pipe} staging`,
    `sandbox import ${pipe}`,
  ].map((command) => shop.run(command, { interrupted: controller.signal }));
  setImmediate(() => controller.abort(new InterruptedError('Interrupted')));
  for (const result of await Promise.all(running)) expect(result).toMatchObject({ code: 130, requests: [] });
});

test('prints the response of a failed api request on stdout, except with --json', async ({ shop }) => {
  const { stdout } = await shop.exits('api GET /nothing', 9, 'Error: ');
  expect(JSON.parse(stdout)).toMatchObject({ status: 404 });
  const json = await shop.exits('api POST /inventory --json --quiet', 10);
  expect(json.stdout).toBe('');
  expect(errorJson(json.stderr).error).toMatchObject({ status: 405, exitCode: 10 });
});
test('sends no api request to another address', async ({ shop }) => {
  for (const [method, path] of [
    ['FETCH', '/inventory'],
    ['GET', 'https://elsewhere.example/v1/inventory'],
    ['GET', '//elsewhere.example/inventory'],
    ['GET', '/../admin'],
    ['GET', '/..%2f../%2e%2e/admin'],
    ['GET', '/a b'],
    ['GET', '/inventory#part'],
    ['GET', '\\\\elsewhere.example'],
    ['GET', '@elsewhere.example/'],
  ] as const) {
    const result = await shop.run(['api', method, path]);
    for (const request of result.requests) expect(request.url.startsWith(`${shop.service.url}/`)).toBe(true);
    expect(result.code).not.toBe(0);
  }
});

test.for([
  ['-', '{ "quantity": 9 }\n'],
  ['@-', '{ "quantity": 9 }\n'],
  ['@file', '{ "quantity": 9 }\n'],
  ['-', `{"quantity":9${' '.repeat(1_000_000)}}`],
] as const)('sends the data of api --data %s once, byte for byte', async ([data, stdin], { shop }) => {
  const named = data === '@file' ? `@${changeFile(shop, stdin, 'body.json')}` : data;
  const result = await shop.run(`api PATCH /inventory/4 --data ${named}`, { stdin });
  // The service takes bodies of up to 16 KiB.
  expect(result.code).toBe(stdin.length > 16_384 ? 10 : 0);
  expect(result.sent).toEqual([`PATCH /v1/inventory/4 ${stdin}`]);
});
test('refuses a file or a path that can not be used, and sends nothing', async ({ shop }) => {
  for (const [command, code, words] of [
    ['api PATCH /inventory/4 --data @/nowhere/body.json', 2, 'There is no file /nowhere/body.json'],
    [`api PATCH /inventory/1 --data @${import.meta.dirname}`, 2, 'it is a folder, not a file. Nothing was sent'],
    ['api GET /inventory --data {}', 2, '--data'],
    ['api GET /v1/inventory', 2, /The path begins after \/v1.*\nHint: petstock api GET \/inventory\n/s],
    [`sandbox import ${import.meta.dirname}`, 2, 'it is a folder'],
    ['sandbox import /nowhere.csv', 2, 'There is no file /nowhere.csv. Nothing was imported'],
    ['config set codes /nowhere.csv', 2, 'There is no file /nowhere.csv. The setting codes was not changed'],
    [`inventory export ${import.meta.filename}/new.csv`, 1, "can't be written: there is no such folder"],
  ] as const) {
    const { stdout, stderr, requests } = await shop.exits(command, code, words);
    expect({ stdout, requests }).toEqual({ stdout: '', requests: [] });
    expect(stderr).not.toMatch(/E[A-Z]{4,}/);
  }
});

test.for<[string, Action, boolean]>([
  ['a connection that breaks', commitThenDrop, false],
  ['a 503', answers(503), false],
  ['a refusal', answers(400), true],
])('reports whether the outcome of an api write is known after %s', async ([, action, isKnown], { till }) => {
  till.service.next('PATCH', action);
  const { stderr } = await till.run(['api', 'PATCH', '/inventory/1', '--data', '{"quantity":50}']);
  expect(stderr.includes('. It is not known whether PATCH /inventory/1 was carried out.\n')).toBe(!isKnown);
  till.service.next('GET', ({ drop }) => drop());
  expect((await till.run('api GET /inventory --retries 0')).stderr).not.toContain('not known');
});

test('reports that an api write was carried out if its response is too long for a terminal', async ({ till }) => {
  till.service.next('PATCH', answers(200, {}, ' '.repeat(16 * 1024 * 1024 + 1)));
  const command = ['api', 'PATCH', '/inventory/1', '--data', '{"quantity":50}'];
  await till.exits(command, 1, /not for a file\.\s+PATCH\s+\/inventory\/1\s+was\s+carried\s+out\.\n/, { terminal: 80 });
});

test('prints the response of pets get, and warns that its endpoint is deprecated and will be removed', async ({
  shop,
}) => {
  const said = /^Warning: GET \/pets\/\{petId\} is deprecated by the service and will be removed on .+ GMT\.\n/;
  const result = await shop.exits('pets get 9007199254740993 --json', 0, said);
  expect(result.sent).toEqual(['GET /v1/pets/9007199254740993']);
  expect(result.stdout).toMatch(/^\{.*9007199254740993.*\}\n$/);
  await shop.exits('pets get 4242', 9, 'Error: There is no pet 4242 in staging.\n');
});

test.for([
  ['api GET', 'C:/Program Files/Git/inventory', 'petstock api GET inventory'],
  ['api GET', 'D:\\msys64\\inventory', 'petstock api GET inventory'],
  ['api GET', 'C:/inventory', 'petstock api GET inventory'],
] as const)(
  'suggests the path without its slash for %s %s, which Git Bash has made of it',
  async ([words, path, hint], { shop }) => {
    const { stderr } = await shop.exits([...words.split(' '), path], 2, 'The shell may have rewritten it');
    expect(stderr).toContain(`\nHint: ${hint}\n`);
    await shop.exits(hint.replace('petstock ', ''), 0);
  },
);
