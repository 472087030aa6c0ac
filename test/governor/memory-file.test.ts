import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { createTransientMemory, type KeyState } from '../../src/governor/memory.ts';
import { createFileMemory, readAllLimits, scopeOf } from '../../src/governor/memory-file.ts';
import { temporaryFolders } from '../support/shop.ts';

const key = 'psk_secret_0123456789';
const scope = scopeOf('https://store.example', key);
const state: KeyState = {
  env: 'staging',
  limit: 60n,
  remaining: 9223372036854775807n,
  resetAt: 1_768_478_460_000,
  asOf: 1_768_478_420_000,
};

let folder: string;
let reasons: Error[];
const open = (name = scope) => createFileMemory(folder, name, (reason) => reasons.push(reason));
const limitsFile = () => join(folder, 'limits', `${scope}.json`);
const gateFile = () => join(folder, 'limits', `${scope}.gate`);

beforeEach(async () => {
  folder = (await temporaryFolders()).state;
  reasons = [];
});

const put = (file: string, content: string | Uint8Array) => {
  mkdirSync(join(folder, 'limits'), { recursive: true });
  writeFileSync(file, content);
};

describe('what one writes, the next one reads', () => {
  test('nothing at first, and reading makes no folder', () => {
    expect(open().limits()).toBeUndefined();
    expect(open().gate()).toBe(0);
    expect(readAllLimits(folder)).toEqual([]);
    expect(() => statSync(folder)).toThrow('ENOENT');
  });

  test('limits, exactly', () => {
    open().rememberLimits(state);
    expect(open().limits()).toEqual(state);
  });

  test('any limits', () => {
    fc.assert(
      fc.property(
        fc.record({
          env: fc.string({ unit: 'binary' }),
          limit: fc.bigInt({ min: 0n, max: 10n ** 19n }),
          remaining: fc.bigInt({ min: 0n, max: 10n ** 19n }),
          resetAt: fc.integer({ min: 0, max: 8.64e15 }),
          asOf: fc.integer({ min: 0, max: 8.64e15 }),
        }),
        (any) => {
          open().rememberLimits(any);
          expect(open().limits()).toEqual(any);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('a gate, never earlier than it was', () => {
    open().raiseGate(1_768_478_460_000.25);
    expect(open().gate()).toBe(1_768_478_460_001);
  });

  test('keys do not mix', () => {
    open().raiseGate(5000);
    open().rememberLimits(state);
    const other = open(scopeOf('https://store.example', 'psk_another'));
    expect(other.gate()).toBe(0);
    expect(other.limits()).toBeUndefined();
  });

  test('all of them, by environment and the latest first', () => {
    open('1'.repeat(32)).rememberLimits({ ...state, env: 'staging', asOf: 1 });
    open('2'.repeat(32)).rememberLimits({ ...state, env: 'production', asOf: 2 });
    open('3'.repeat(32)).rememberLimits({ ...state, env: 'staging', asOf: 3 });
    put(join(folder, 'limits', '4.json'), '{"env":');
    open('5'.repeat(32)).raiseGate(5000);
    expect(readAllLimits(folder).map(({ env, asOf }) => [env, asOf])).toEqual([
      ['production', 2],
      ['staging', 3],
      ['staging', 1],
    ]);
  });
});

describe('a gate is never lowered', () => {
  test('by the same memory', () => {
    const memory = open();
    memory.raiseGate(9000);
    memory.raiseGate(5000);
    expect(memory.gate()).toBe(9000);
    expect(open().gate()).toBe(9000);
  });

  test('by another one', () => {
    const [first, second] = [open(), open()];
    first.raiseGate(9000);
    second.raiseGate(5000);
    expect([first.gate(), second.gate(), open().gate()]).toEqual([9000, 9000, 9000]);
  });

  test('by one that writes limits', () => {
    const [first, second] = [open(), open()];
    second.rememberLimits(state);
    first.raiseGate(9000);
    second.rememberLimits({ ...state, remaining: 1n });
    expect(open().gate()).toBe(9000);
  });

  test('where somebody removes the file: not for the one that raised it', () => {
    const memory = open();
    memory.raiseGate(9000);
    rmSync(folder, { recursive: true });
    expect(memory.gate()).toBe(9000);
  });

  test('in any order of two writers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 2e12 })), { minLength: 1, maxLength: 12 }),
        (raises) => {
          const name = scopeOf('order', JSON.stringify(raises));
          const [first, second] = [open(name), open(name)];
          for (const [mine, until] of raises) (mine ? first : second).raiseGate(until);
          const highest = Math.max(...raises.map(([, until]) => until));
          expect([first.gate(), second.gate(), open(name).gate()]).toEqual([highest, highest, highest]);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('a file that is none of ours tells nothing', () => {
  const whole = JSON.stringify({ ...state, limit: '60', remaining: '57' });

  test.each([
    '',
    ' ',
    'null',
    '[]',
    '5',
    '"text"',
    '{}',
    '\0\0\0\0',
    '<html>',
    '{"env":1,"limit":"60","remaining":"57","resetAt":1,"asOf":1}',
    '{"env":"x","limit":"many","remaining":"57","resetAt":1,"asOf":1}',
    '{"env":"x","limit":1.5,"remaining":"57","resetAt":1,"asOf":1}',
    '{"env":"x","remaining":"57","resetAt":1,"asOf":1}',
    '{"env":"x","limit":"60","remaining":"57","resetAt":"1","asOf":1}',
    '{"env":"x","limit":"60","remaining":"57","resetAt":1e999,"asOf":1}',
    '{"env":"x","limit":"60","remaining":"57","resetAt":1}',
  ])('limits %j', (content) => {
    put(limitsFile(), content);
    expect(open().limits()).toBeUndefined();
    expect(readAllLimits(folder)).toEqual([]);
  });

  test('limits torn anywhere', () => {
    for (let length = 0; length < whole.length; length += 1) {
      put(limitsFile(), whole.slice(0, length));
      expect(open().limits()).toBeUndefined();
    }
  });

  test.each(['', ' ', 'soon', 'NaN', 'Infinity', '-Infinity', '{}', '\0\0\0', '1e999', '12 34'])(
    'gate %j',
    (content) => {
      put(gateFile(), content);
      expect(open().gate()).toBe(0);
    },
  );

  test('a gate torn anywhere shuts nothing for longer', () => {
    const text = '1768478460000';
    for (let length = 0; length <= text.length; length += 1) {
      put(gateFile(), text.slice(0, length));
      expect(open().gate()).toBeLessThanOrEqual(Number(text));
    }
  });

  test('and the next answer writes it anew', () => {
    put(limitsFile(), whole.slice(0, 20));
    put(gateFile(), 'garbage');
    open().rememberLimits(state);
    open().raiseGate(9000);
    expect(open().limits()).toEqual(state);
    expect(open().gate()).toBe(9000);
  });

  test('a folder where the file should be', () => {
    mkdirSync(limitsFile(), { recursive: true });
    mkdirSync(gateFile(), { recursive: true });
    expect(open().limits()).toBeUndefined();
    expect(open().gate()).toBe(0);
    expect(readAllLimits(folder)).toEqual([]);
  });
});

describe('on disk', () => {
  test('the folder is 0700 and the files 0600, whatever they were', () => {
    put(limitsFile(), '');
    rmSync(folder, { recursive: true });
    const memory = open();
    memory.rememberLimits(state);
    memory.raiseGate(9000);
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([folder, join(folder, 'limits')].map(mode)).toEqual(['700', '700']);
    expect([limitsFile(), gateFile()].map(mode)).toEqual(['600', '600']);
    chmodSync(limitsFile(), 0o644);
    memory.rememberLimits(state);
    expect(mode(limitsFile())).toBe('600');
  });

  test('no key in a name or in a file, and nothing left over', () => {
    const memory = open();
    memory.rememberLimits(state);
    memory.raiseGate(9000);
    const names = readdirSync(join(folder, 'limits')).sort();
    expect(names).toEqual([`${scope}.gate`, `${scope}.json`]);
    const contents = names.map((name) => readFileSync(join(folder, 'limits', name), 'utf8'));
    for (const text of [...names, ...contents]) expect(text).not.toContain('secret');
  });

  test('a scope is a hash of the service and the key', () => {
    expect(scope).toMatch(/^[0-9a-f]{32}$/);
    const scopes = [scope, scopeOf('https://store.example', 'k'), scopeOf('https://other.example', key)];
    expect(new Set(scopes).size).toBe(3);
  });
});

describe('a folder that takes no file', () => {
  test('is told once, and the memory goes on for this process', () => {
    put(join(folder, 'blocker'), '');
    folder = join(folder, 'blocker');
    const memory = open();
    memory.rememberLimits(state);
    memory.raiseGate(9000);
    memory.rememberLimits({ ...state, remaining: 1n });
    expect(reasons.map(({ message }) => message)).toEqual([expect.stringMatching(/ENOTDIR|EEXIST/)]);
    expect(memory.limits()?.remaining).toBe(1n);
    expect(memory.gate()).toBe(9000);
  });

  test('a gate that is there already is still seen', () => {
    open().raiseGate(9000);
    mkdirSync(limitsFile());
    const memory = open();
    memory.rememberLimits(state);
    expect(reasons).toHaveLength(1);
    expect(memory.gate()).toBe(9000);
  });
});

test('memory of this process alone', () => {
  const memory = createTransientMemory();
  expect([memory.limits(), memory.gate()]).toEqual([undefined, 0]);
  memory.rememberLimits(state);
  memory.raiseGate(9000);
  memory.raiseGate(5000);
  expect([memory.limits(), memory.gate()]).toEqual([state, 9000]);
});
