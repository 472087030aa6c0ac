import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GateFiles } from '../../src/rate-limit/gate-files.ts';
import { emptyState, scopeOf } from '../../src/rate-limit/key-state.ts';
import { takeLock } from '../../src/shared/sqlite-engine.ts';
import { createTestClock } from '../support/clock.ts';
import { newFolder } from '../support/new-folder.ts';

/** Returns gate files in three folders, the second of which can't be created because a file has its name. */
function gateFiles() {
  const root = newFolder();
  const folders = ['a', 'b', 'c'].map((name) => join(root, name));
  const clock = createTestClock();
  writeFileSync(join(root, 'b'), '');
  const files = new GateFiles(folders, clock);
  const gateIn = (wait: number) => {
    const gate = { at: clock.monotonic() + wait, wall: clock.now() + wait, length: wait, reason: 'refused' as const };
    return { ...emptyState(), env: 'staging', gate };
  };
  const waits = (scope: string) =>
    files.holding(scope).map(({ kind, life, state }) => [kind, state.gate.at - clock.monotonic(), state.env, life]);
  return { root, folders, clock, files, gateIn, waits };
}

test('writes a gate to the first two folders that accept it, and reads it until it lifts', async () => {
  const { root, folders, clock, files, gateIn, waits } = gateFiles();
  folders.push(join(root, 'd'));
  expect(await files.write('k1', 'gate', gateIn(5000))).toBeUndefined();
  expect(await files.write('k1', 'told', gateIn(9000), 'epoch')).toBeUndefined();
  const own = ['gate', 5000, 'staging', undefined];
  const told = ['told', 9000, 'staging', 'epoch'];
  expect(waits('k1')).toEqual([own, told, own, told]);
  expect([files.scopes(), waits('k2'), readdirSync(root)]).toEqual([['k1'], [], ['a', 'b', 'c']]);
  clock.advance(5000);
  expect(waits('k1').map(([kind, wait]) => [kind, wait])).toEqual(Array(2).fill(['told', 4000]));
  expect(readdirSync(join(root, 'a'))).not.toContain('gate-k1.json');
});

test('replaces a gate only by a later one', async () => {
  const { files, gateIn, waits } = gateFiles();
  for (const wait of [5000, 9000, 7000]) await files.write('k1', 'gate', gateIn(wait));
  expect(waits('k1').map(([, wait]) => wait)).toEqual([9000, 9000]);
});

test('removes the matching gates of one kind, or all gates of a key', async () => {
  const { root, files, gateIn, waits } = gateFiles();
  await files.write('k1', 'told', gateIn(5000), 'old');
  await files.write('k1', 'gate', gateIn(5000));
  files.remove('k1', 'told', ({ life }) => life === 'new');
  expect(waits('k1')).toHaveLength(4);
  const lock = takeLock(join(root, 'a', 'gates.lock'));
  files.remove('k1', 'told', ({ life }) => life === 'old');
  expect(waits('k1').map(([kind]) => kind)).toEqual(['gate', 'told', 'gate']);
  lock.close();
  files.remove('k1', 'told', () => true);
  expect(waits('k1').map(([kind]) => kind)).toEqual(['gate', 'gate']);
  files.clear('k1');
  expect([waits('k1'), files.scopes()]).toEqual([[], []]);
});

test('returns the error of the last folder if no folder accepts a gate', async () => {
  const { root, clock, gateIn } = gateFiles();
  const blocked = new GateFiles([join(root, 'b'), join(root, 'b', 'c')], clock);
  expect(await blocked.write('k1', 'gate', gateIn(5000))).toMatchObject({ message: expect.stringContaining('/b/c') });
  expect([blocked.holding('k1'), blocked.scopes()]).toEqual([[], []]);
});

test.each<[string, object | string, number | undefined]>([
  ['of version 0.2.0', { bootedAt: undefined, boot: 'earlier' }, 7000],
  ['of this boot', {}, 5000],
  ['without a boot', { boot: undefined }, undefined],
  ['without an environment', { env: 7 }, undefined],
  ['without a time', { at: '1' }, undefined],
  ['without a length', { length: null }, undefined],
  ['without a wall time', { wall: undefined }, undefined],
  ['that is cut off', '{"at":', undefined],
  ['that is empty', '', undefined],
])('reads a gate file, or ignores one that is damaged: a file %s', (_, change, wait) => {
  const { root, clock, waits } = gateFiles();
  const at = clock.monotonic() + 5000;
  const stored = {
    ...{ at, wall: clock.now() + 7000, length: 9000, reason: 'refused', env: 'staging' },
    ...{ boot: clock.boot(), bootedAt: clock.now() - clock.monotonic() },
  };
  mkdirSync(join(root, 'a'), { mode: 0o700 });
  const text = typeof change === 'string' ? change : JSON.stringify({ ...stored, ...change });
  writeFileSync(join(root, 'a', 'gate-k1.json'), text, { mode: 0o600 });
  expect(waits('k1').map(([, left]) => left)).toEqual(wait === undefined ? [] : [wait]);
});

test('derives the name of a key as earlier versions did, to find their gate files and state', () => {
  expect(scopeOf('https://shop.example', 'psk_1')).toBe('2a7d6a65bf66eb27dc3beb41841af19d');
});
