import { expect } from 'vitest';
import { changeFile } from '../../support/changes.ts';
import { sent } from '../../support/requests.ts';
import { test } from '../../support/shop.ts';

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
  const result = await shop.run('api PATCH /inventory/4 --data @/nowhere/body.json');
  expect(result).toMatchObject({ code: 2, requests: [] });
  expect(result.stderr).toContain('There is no file /nowhere/body.json');
});

test.for([
  [
    ['api', 'PATCH', '/inventory/1', '--data', `@${import.meta.dirname}`],
    'it is a folder, not a file; nothing was sent',
  ],
  [['sandbox', 'import', import.meta.dirname], 'it is a folder'],
  [['sandbox', 'import', '/nowhere.csv'], 'there is no such file'],
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
  const result = await shop.run('api GET /v1/inventory');
  expect(result).toMatchObject({ code: 2, requests: [] });
  expect(result.stderr).toContain('The path begins after /v1');
  expect(result.stderr).toContain('Hint: petstock api GET /inventory\n');
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
] as const)(
  'an empty name, as of a variable that is not set, is said to be one: %s in %j',
  async ([what, command], { shop }) => {
    const result = await shop.run(command);
    expect(result).toMatchObject({ code: 2, stdout: '', requests: [] });
    expect(result.stderr).toBe(`Error: ${what} takes a file, and its name is empty.\n`);
  },
);
