import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logWriter } from '../../../src/cli/commands/sandbox/log-writer.ts';
import { folderOf, served } from '../../support/served-shop.ts';
import { jsonLines, test as shopTest } from '../../support/shop.ts';

test('keeps the newest megabyte of the log for a stalled reader, and reports how many lines were dropped', async () => {
  const written: string[] = [];
  let flow = () => {};
  const flows = new Promise<void>((resolve) => {
    flow = resolve;
  });
  const stderr = {
    write: (text: string | Uint8Array) => {
      written.push(String(text));
      return flows;
    },
  };
  const write = logWriter(stderr, () => 0);
  // Each logged line has 1,000 bytes but fewer characters.
  const text = `${'é'.repeat(487)}x`;
  for (let line = 10_000; line < 15_000; line++) write({ line, text });
  expect(written).toHaveLength(1);
  flow();
  await flows;
  await expect.poll(() => written).toHaveLength(2);
  const [first, warning, ...newest] = written
    .join('')
    .split('\n')
    .slice(0, -1)
    .map((each) => JSON.parse(each));
  expect(first).toEqual({ line: 10_000, text });
  const message = 'Lines were dropped';
  expect(warning).toEqual({ time: '1970-01-01T00:00:00.000Z', level: 'warning', message, dropped: 3_999 });
  expect(newest.map(({ line }) => line)).toEqual(Array.from({ length: 1_000 }, (_, index) => 14_000 + index));
});

shopTest('sandbox serve --log records its start, a refused admin request, the drain and the stop', async ({ shop }) => {
  const { code, stderr } = await served(shop, '--file :memory: --log --admin-port 0', async ({ admin }) => {
    await fetch(`${admin}/reset`, { method: 'POST', headers: { Authorization: 'Bearer adm_wrong' } });
  });
  expect(code).toBe(0);
  const lines = jsonLines(stderr);
  expect(lines).toContainEqual(
    expect.objectContaining({ message: 'Started', version: expect.stringMatching(/^\d/), store: ':memory:' }),
  );
  expect(lines).toContainEqual(expect.objectContaining({ level: 'warning', count: 1 }));
  expect(lines.slice(-2).map(({ message }) => message)).toEqual(['Draining', 'Stopped']);
});

shopTest('warns if a revoked key is given to sandbox serve', async ({ shop }) => {
  const file = join(folderOf(shop), 'shop.db');
  const options = `--key a-constant-key-of-ours --file ${file}`;
  await served(shop, options);
  const [{ id }] = await shop.json(`sandbox keys list --file ${file} --json`);
  await shop.exits(`sandbox keys revoke ${id} --file ${file}`, 0);
  const { stderr } = await served(shop, options);
  expect(stderr).toContain('Warning: The key was revoked. Requests with it get a 401');
});

shopTest('sandbox serve prints a command that shows the key if there is no terminal', async ({ shop }) => {
  const { stdout, stderr } = await served(shop, '');
  const command = /The key is the sandbox's own\. To show it: petstock (.*)\n/.exec(stderr)?.[1] ?? '';
  const info = await shop.json(command);
  expect(Object.keys(info)).toEqual(['file', 'key', 'plan', 'pets']);
  expect(info.key).toBe(JSON.parse(stdout).key);
});
