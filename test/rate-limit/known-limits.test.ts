import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { ledgerFolder, readKnownLimits } from '../../src/rate-limit/known-limits.ts';
import { createFileLedger } from '../../src/rate-limit/ledger-file.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { temporaryFolders } from '../support/shop.ts';
import { createRig, ok, refused, told } from './rig.ts';

let state: string;
let clock: TestClock;
const scope = '1'.repeat(32);

beforeEach(async () => {
  state = (await temporaryFolders()).state;
  clock = createTestClock();
});

const rigOf = (name = scope, env = 'staging') => {
  const ledger = createFileLedger({
    folder: ledgerFolder(state),
    scope: name,
    unique: 'u',
    onFallback: (reason) => {
      throw reason;
    },
  });
  return createRig({ clock, ledger, env });
};

describe('what is known of each key', () => {
  test('nothing at first, and reading makes no folder', () => {
    expect(readKnownLimits(state)).toEqual([]);
    expect(() => statSync(state)).toThrow('ENOENT');
  });

  test('what the last answer told, less what was sent since without being told', async () => {
    const { ask } = rigOf();
    await ask(ok(told(57, 40_000, clock.now())));
    await ask(ok());
    expect(readKnownLimits(state)).toEqual([
      {
        scope,
        env: 'staging',
        kind: 'minute',
        limit: 60,
        remaining: 56,
        resetAt: 1_768_478_460_000,
        asOf: clock.now(),
      },
    ]);
  });

  test('both windows, where both were told', async () => {
    const { ask } = rigOf();
    await ask(ok(told(57, 40_000, clock.now())));
    await ask(ok({ ...told(5, 43_180_000, clock.now()), 'x-ratelimit-limit': '1000' }));
    expect(readKnownLimits(state).map(({ kind, limit, remaining }) => [kind, limit, remaining])).toEqual([
      ['minute', 60, 56],
      ['day', 1000, 5],
    ]);
  });

  test('a key that has only met bare 429s has none', async () => {
    await rigOf().ask(refused());
    expect(readKnownLimits(state)).toEqual([]);
  });

  test('all keys, by environment and the latest first', async () => {
    await rigOf('1'.repeat(32)).ask(ok(told(1, 40_000, clock.now())));
    clock.advance(1000);
    await rigOf('2'.repeat(32), 'production').ask(ok(told(2, 40_000, clock.now())));
    clock.advance(1000);
    await rigOf('3'.repeat(32)).ask(ok(told(3, 40_000, clock.now())));
    writeFileSync(join(ledgerFolder(state), `${'4'.repeat(32)}.1.ledger`), 'garbage');
    mkdirSync(join(ledgerFolder(state), `${'5'.repeat(32)}.1.ledger`));
    expect(readKnownLimits(state).map(({ env, remaining }) => [env, remaining])).toEqual([
      ['production', 2],
      ['staging', 3],
      ['staging', 1],
    ]);
  });

  test('a reader leaves no trace and needs no right to write', async () => {
    await rigOf().ask(ok(told(57, 40_000, clock.now())));
    const folder = ledgerFolder(state);
    const traces = () => readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs]);
    const [before, descriptors] = [traces(), readdirSync('/proc/self/fd').length];
    for (let round = 0; round < 50; round += 1) expect(readKnownLimits(state)).toHaveLength(1);
    expect(traces()).toEqual(before);
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(descriptors);
  });
});
