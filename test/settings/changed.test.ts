import { describe, expect } from 'vitest';
import { test } from './run-config.ts';

describe('config with an output format', () => {
  test.for([
    ['set confirm always', 'confirm', 'always'],
    ['set keep-history 365', 'keep-history', 365],
    ['set confirm always --store north', 'north/confirm', 'always'],
    ['set-url https://a.example/v1', 'url.staging', 'https://a.example/v1'],
    ['set-url https://a.example/v1 --store north -e production', 'north/url.production', 'https://a.example/v1'],
    ['set-key --command pass', 'key.staging', 'pass'],
  ] as const)('reports only the first of two equal changes: %s', async ([command, name, value], { config }) => {
    const json = async () => JSON.parse((await config.run(`${command} --json`)).stdout);
    expect(await json()).toEqual({ name, value, changed: true });
    expect(await json()).toEqual({ name, value, changed: false });
  });

  test.for([
    ['set confirm always', 'unset confirm', 'confirm'],
    ['set-url https://a.example/v1', 'unset url', 'url.staging'],
    ['set-key --command pass', 'unset-key', 'key.staging'],
  ] as const)(
    'prints changed: true for the first removal and false for the second (%s, then %s)',
    async ([set, unset, name], { config }) => {
      await config.run(set);
      const csv = async () => (await config.run(`${unset} -o csv`)).stdout;
      expect(await csv()).toBe(`name,value,changed\n${name},,true\n`);
      expect(await csv()).toBe(`name,value,changed\n${name},,false\n`);
    },
  );

  test('hides keys and passwords in config set and set-key --json', async ({ config }) => {
    const key = await config.run('set-key --json', { stdin: 'psk_0123456789abcdef' });
    expect(JSON.parse(key.stdout)).toEqual({ name: 'key.staging', value: '…cdef', changed: true });
    const state = await config.run('set state-url --json', { stdin: 'postgresql://me:secret@db.example/petstock' });
    expect(state.stdout).not.toContain('secret');
    expect(JSON.parse(state.stdout)).toMatchObject({ name: 'state-url', changed: true });
  });
});
