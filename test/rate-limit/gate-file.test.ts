import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GateFile } from '../../src/rate-limit/gate-file.ts';
import { maxGate } from '../../src/rate-limit/waits.ts';
import { createTestClock } from '../support/clock.ts';
import { newFolder } from '../support/new-folder.ts';

/** Returns a gate file in two folders, neither of which exists. */
function gateFile() {
  const root = newFolder();
  const folders = ['state', 'temporary'].map((name) => join(root, name)) as [string, string];
  const clock = createTestClock();
  const open = (used: readonly string[] = folders) => new GateFile(used, clock);
  const file = open();
  const gateIn = (ms: number, length = ms) => ({ at: clock.now() + ms, length, reason: 'refused' as const });
  const waitOf = (scope: string, read = open()) => Math.max(0, read.gate(scope).at - clock.now());
  return { root, folders, file, open, clock, gateIn, waitOf, path: join(folders[0], 'gates.ndjson') };
}

test('writes a gate to the first folder, and reads it in every process until it lifts', () => {
  const { root, path, file, clock, gateIn, waitOf } = gateFile();
  expect(file.write('k1', gateIn(5000))).toBeUndefined();
  expect([waitOf('k1'), waitOf('k1', file), waitOf('k2')]).toEqual([5000, 5000, 0]);
  expect(readdirSync(root)).toEqual(['state']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  clock.advance(5000);
  expect([waitOf('k1'), waitOf('k1', file)]).toEqual([0, 0]);
});

test('lets the later of several gates of a key count, in whatever order they were written', () => {
  const { file, gateIn, waitOf } = gateFile();
  for (const wait of [5000, 9000, 7000]) file.write('k1', gateIn(wait));
  expect(waitOf('k1')).toBe(9000);
  expect([...file.gates().keys()]).toEqual(['k1']);
});

test('sees a gate that another process has written since', () => {
  const { file, open, gateIn, waitOf } = gateFile();
  expect(waitOf('k1', file)).toBe(0);
  open().write('k1', gateIn(5000));
  expect(waitOf('k1', file)).toBe(5000);
});

test('uses the second folder where the first takes nothing, and reads both', () => {
  const { folders, file, open, gateIn, waitOf } = gateFile();
  writeFileSync(folders[0], 'a file in the place of the folder');
  expect(file.write('k1', gateIn(5000))).toBeUndefined();
  expect(waitOf('k1')).toBe(5000);
  expect(waitOf('k1', open([folders[1]]))).toBe(5000);
});

test('returns the error where no folder takes a gate', () => {
  const { folders, open, gateIn, waitOf } = gateFile();
  for (const folder of folders) writeFileSync(folder, '');
  expect(open().write('k1', gateIn(5000))).toBeInstanceOf(Error);
  expect(waitOf('k1')).toBe(0);
});

describe('a damaged file', () => {
  test.each([
    ['half a line', '{"scope":"k1","at":17'],
    ['nothing', ''],
    ['no JSON', 'gate\n'],
    ['a gate without a time', '{"scope":"k1","at":null,"length":5}\n'],
    ['a list', '[1,2]\n'],
    ['zeros', '\0\0\0\0'],
  ])('loses no gate before or after %s', (_what, damage) => {
    const { path, file, gateIn, waitOf } = gateFile();
    file.write('k1', gateIn(5000));
    appendFileSync(path, damage);
    file.write('k2', gateIn(6000));
    expect([waitOf('k1'), waitOf('k2')]).toEqual([5000, 6000]);
  });

  test('blocks no key for more than 32 days', () => {
    const { folders, path, clock, waitOf } = gateFile();
    mkdirSync(folders[0], { mode: 0o700 });
    const line = { scope: 'k1', at: clock.now() + 100 * maxGate, length: 100 * maxGate, reason: 'refused' };
    writeFileSync(path, JSON.stringify(line), { mode: 0o600 });
    expect(waitOf('k1')).toBe(maxGate);
  });
});

test('clears the gate of one key in both folders', () => {
  const { folders, file, open, gateIn, waitOf } = gateFile();
  open([folders[1]]).write('k1', gateIn(9000));
  file.write('k1', gateIn(5000));
  file.write('k2', gateIn(5000));
  file.clear('k1');
  expect([waitOf('k1'), waitOf('k2')]).toEqual([0, 5000]);
  file.write('k1', gateIn(3000));
  expect(waitOf('k1')).toBe(3000);
});

test('counts a gate from now, once, if the clock was set back', () => {
  const { clock, file, gateIn, waitOf } = gateFile();
  file.write('k1', gateIn(60_000));
  clock.step(-3_600_000);
  expect(waitOf('k1')).toBe(60_000);
  clock.advance(20_000);
  expect([waitOf('k1'), waitOf('k1', file)]).toEqual([40_000, 40_000]);
});

test('sets a long file aside, and forgets no gate that holds', () => {
  const { folders, path, file, clock, gateIn, waitOf } = gateFile();
  file.write('long', gateIn(86_400_000));
  for (let count = 0; count < 1500; count += 1) {
    file.write(`k${count}`, gateIn(5));
    clock.advance(10);
  }
  file.write('k1', gateIn(60_000));
  expect(waitOf('long')).toBeGreaterThan(86_000_000);
  expect(waitOf('k1')).toBe(60_000);
  expect(readdirSync(folders[0])).toEqual(['gates.ndjson', 'gates.ndjson.old']);
  expect(readFileSync(path).length).toBeLessThan(70_000);
});

test('forgets no gate where a process was killed as it set a file aside', () => {
  const { path, file, clock, gateIn, waitOf } = gateFile();
  file.write('long', gateIn(86_400_000));
  renameSync(path, `${path}.old`);
  clock.advance(-3_600_000);
  file.write('k1', gateIn(5));
  rmSync(`${path}.old`);
  expect(waitOf('long')).toBe(86_400_000);
});
