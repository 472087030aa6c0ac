import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { InterruptedError } from '../../../src/shared/errors.ts';
import { canMakeFifos } from '../../support/capabilities.ts';
import { commitThenDrop } from '../../support/scripted-actions.ts';
import type { Action } from '../../support/scripted-service.ts';
import { changeFile, errorJson, openShop, sent } from '../../support/shop.ts';
import { test } from '../../support/till.ts';

test('prints the body as it came', async () => {
  const shop = await openShop({ pets: 6 });
  const result = await shop.run('api GET /inventory');
  expect(result.code).toBe(0);
  expect(sent(result)).toEqual(['GET /v1/inventory']);
  expect(result.stdout).toContain('{"petId":9223372036854775807,"quantity":');
  expect(result.stdout.endsWith(']')).toBe(true);
});

test('a write has the banner, the body as it was given, and its answer', async ({ shop }) => {
  const result = await shop.run(['api', 'patch', 'inventory/9007199254740993', '--data', '{ "quantity": 3 }']);
  expect(result).toMatchObject({ code: 0, stdout: '{"petId":9007199254740993,"quantity":3,"status":"sold"}' });
  expect(sent(result)).toEqual(['PATCH /v1/inventory/9007199254740993 { "quantity": 3 }']);
  expect(result.stderr).toContain(`▸ staging · ${shop.service.url}\n`);
  expect(result.requests[0]?.headers['content-type']).toBe('application/json');
});

test('-H adds headers, several of one name as a list', async ({ shop }) => {
  const headers = ['X-Trace: a', 'x-trace:b', 'Accept: text/csv'].flatMap((header) => ['-H', header]);
  const result = await shop.run(['api', 'GET', '/inventory', ...headers]);
  expect(result.requests[0]?.headers).toMatchObject({ 'x-trace': 'a, b', accept: 'text/csv' });
});

test.for(['Authorization: Bearer psk_other', 'content-length: 3', 'no colon', ': empty', 'a: b\r\nc: d', 'ä: b'])(
  '-H %j is refused, not repeated, and nothing is sent',
  async (header, { shop }) => {
    expect(await shop.refused(['api', 'GET', '/inventory', '-H', header])).not.toContain('psk_other');
  },
);

test.runIf(canMakeFifos)('Ctrl-C ends the reading of a pipe that nobody writes to', async ({ shop }) => {
  const pipe = join(shop.folders.state, '..', 'pipe');
  execFileSync('mkfifo', [pipe]);
  onTestFinished(() => closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)));
  const controller = new AbortController();
  const running = [
    `api PATCH /inventory/4 --data @${pipe}`,
    `inventory apply ${pipe} --yes`,
    `inventory diff ${pipe} staging`,
  ].map((command) => shop.run(command, { interrupted: controller.signal }));
  setImmediate(() => controller.abort(new InterruptedError('Interrupted')));
  for (const result of await Promise.all(running)) expect(result).toMatchObject({ code: 130, requests: [] });
});

test('a million bytes on stdin are sent once', async ({ shop }) => {
  const stdin = `{"quantity":3,"note":"${'x'.repeat(1_000_000)}"}`;
  const result = await shop.run('api PATCH /inventory/1 --data -', { stdin });
  expect([0, 10]).toContain(result.code);
  expect(result.requests.map(({ body }) => body)).toEqual([stdin]);
});

describe('an answer that is no success', () => {
  test('is shown, and is an error', async ({ shop }) => {
    const result = await shop.run('api GET /nothing');
    expect(result.code).toBe(9);
    expect(JSON.parse(result.stdout)).toMatchObject({ status: 404 });
    expect(result.stderr).toContain('Error: ');
  });

  test('with --json stdout is empty', async ({ shop }) => {
    const result = await shop.run('api POST /inventory --json --quiet');
    expect(result).toMatchObject({ code: 10, stdout: '' });
    expect(errorJson(result.stderr).error).toMatchObject({ status: 405, exitCode: 10 });
  });
});

test.for([
  ['FETCH', '/inventory'],
  ['GET', 'https://elsewhere.example/v1/inventory'],
  ['GET', '//elsewhere.example/inventory'],
  ['GET', '/../admin'],
  ['GET', '/..%2f../%2e%2e/admin'],
  ['GET', '/a b'],
  ['GET', '/inventory#part'],
  ['GET', '\\\\elsewhere.example'],
  ['GET', '@elsewhere.example/'],
] as const)('%s %s never reaches another place', async ([method, path], { shop }) => {
  const result = await shop.run(['api', method, path]);
  for (const request of result.requests) expect(request.url.startsWith(`${shop.service.url}/`)).toBe(true);
  expect(result.code).not.toBe(0);
});

test('a GET with --data is exit 2', async ({ shop }) => {
  expect(await shop.run(['api', 'GET', '/inventory', '--data', '{}'])).toMatchObject({ code: 2, requests: [] });
});

test.for([
  ['{"code":"bad","message":"No","status":400}', '\nError: The service answered 400.\n│ No\n'],
  ['{"code":"bad","message":"No","status":400}\n', 'Error: The service answered 400.\n│ No\n'],
] as const)('an error has a line of its own where both streams are one: %j', async ([body, expected], { till }) => {
  till.service.always('GET', ({ answer }) => answer(400, body));
  const both = await till.run('api GET /x -q', { sharesOutput: true });
  expect(both).toMatchObject({ code: 10, stdout: body, stderr: expected });
  const apart = await till.run('api GET /x -q');
  expect(apart).toMatchObject({ stdout: body, stderr: 'Error: The service answered 400.\n│ No\n' });
});

test('--data @file sends the file, byte for byte', async ({ shop }) => {
  const file = changeFile(shop, '{ "quantity": 8 }\n', 'body.json');
  const result = await shop.run(['api', 'PATCH', '/inventory/4', '--data', `@${file}`]);
  expect(result.code).toBe(0);
  expect(sent(result)).toEqual(['PATCH /v1/inventory/4 { "quantity": 8 }\n']);
});

test.for(['-', '@-'])('--data %s sends what stdin holds', async (data, { shop }) => {
  const result = await shop.run(['api', 'PATCH', '/inventory/4', '--data', data], { stdin: '{"quantity": 9}' });
  expect(result.code).toBe(0);
  expect(sent(result)).toEqual(['PATCH /v1/inventory/4 {"quantity": 9}']);
});

test('a file that is not there is exit 2, and nothing is sent', async ({ shop }) => {
  expect(await shop.refused('api PATCH /inventory/4 --data @/nowhere/body.json')).toContain(
    'There is no file /nowhere/body.json',
  );
});

test.for([
  [
    ['api', 'PATCH', '/inventory/1', '--data', `@${import.meta.dirname}`],
    'it is a folder, not a file; nothing was sent',
  ],
  [['sandbox', 'import', import.meta.dirname], 'it is a folder'],
  [['sandbox', 'import', '/nowhere.csv'], 'There is no file /nowhere.csv'],
  [['inventory', 'export', `${import.meta.filename}/new.csv`], "can't be written: there is no such folder"],
] as const)('a place that is no file is said in words: %j', async ([command, words], { shop }) => {
  const result = await shop.run(command);
  expect(result).toMatchObject({ stdout: '', requests: [], stderr: expect.stringContaining(words) });
  expect(result.code).not.toBe(0);
  expect(result.stderr).not.toMatch(/E[A-Z]{4,}/);
});

test('-i shows the status and the headers before the body, never the key', async ({ shop }) => {
  const result = await shop.run('api GET /inventory -i');
  expect(result.code).toBe(0);
  const [head = '', body = ''] = result.stdout.split('\n\n');
  expect(head).toMatch(/^HTTP\/1.1 200 OK\n/);
  expect(head).toMatch(/^content-type: application\/json/m);
  expect(head).toMatch(/^x-ratelimit-limit: \d+$/m);
  expect(body).toMatch(/^\[/);
  expect(result.stdout).not.toContain(shop.service.key);
  const missing = await shop.run('api GET /nothing --include');
  expect(missing).toMatchObject({ code: 9, stdout: expect.stringMatching(/^HTTP\/1.1 404 Not Found\n/) });
});

test('a path that repeats /v1 is refused with the right one', async ({ shop }) => {
  const stderr = await shop.refused('api GET /v1/inventory');
  expect(stderr).toContain('The path begins after /v1');
  expect(stderr).toContain('Hint: petstock api GET /inventory\n');
});

test.for([
  ['sandbox export', ['sandbox', 'export', '']],
  ['sandbox import', ['sandbox', 'import', '']],
  ['sandbox backup', ['sandbox', 'backup', '']],
  ['--file', ['sandbox', 'export', '--file', '']],
  ['--file', ['sandbox', 'serve', '--port', '0', '--file', '']],
  ['--import', ['sandbox', 'serve', '--port', '0', '--import', '']],
  ['--key-file', ['sandbox', 'serve', '--port', '0', '--key-file', '']],
  ['--tls-cert', ['sandbox', 'serve', '--port', '0', '--tls-cert', '', '--tls-key', 'key.pem']],
  ['--codes', ['inventory', 'count', '--yes', '--codes', '']],
  ['--data @', ['api', 'PATCH', '/inventory/4', '--data', '@']],
] as const)('an empty name is said to be one: %s in %j', async ([what, command], { shop }) => {
  expect(await shop.refused(command)).toBe(`Error: ${what} takes a file, and its name is empty.\n`);
});

test.for<[string, Action, boolean]>([
  ['a connection that breaks', commitThenDrop, false],
  ['a 503', (exchange) => exchange.answer(503), false],
  ['a refusal', (exchange) => exchange.answer(400), true],
])('it is said of a write whether its fate is known: %s', async ([, action, isKnown], { till }) => {
  till.service.next('PATCH', action);
  const { stderr } = await till.run(['api', 'PATCH', '/inventory/1', '--data', '{"quantity":50}']);
  expect(stderr.includes('; it is not known whether PATCH /inventory/1 was carried out.\n')).toBe(!isKnown);
  till.service.next('GET', ({ drop }) => drop());
  expect((await till.run('api GET /inventory --retries 0')).stderr).not.toContain('not known');
});
