import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { isRemote } from '../../src/rate-limit/generations.ts';
import { encodeState } from '../../src/rate-limit/key-state.ts';
import type { Ledger } from '../../src/rate-limit/ledger.ts';
import { createFileLedger, readState } from '../../src/rate-limit/ledger-file.ts';
import { encodeRecord, type LedgerRecord } from '../../src/rate-limit/records.ts';
import { scopeOf } from '../../src/rate-limit/scope.ts';
import { createTestClock } from '../support/clock.ts';
import { temporaryFolders } from '../support/shop.ts';
import { createRig, ok, refused, told } from './rig.ts';

const scope = 'a'.repeat(32);
const now = Date.UTC(2026, 0, 15, 12);

let folder: string;
let reasons: Error[];
let opened = 0;
const open = (options: { sealAt?: number; scope?: string } = {}): Ledger => {
  opened += 1;
  return createFileLedger({
    folder,
    scope,
    unique: `u${opened}`,
    onFallback: (reason) => reasons.push(reason),
    ...options,
  });
};
const start: LedgerRecord = { type: 'start', boot: 'one', env: 'staging', at: 0, wall: now };
const intent = (id: string, at = 1): LedgerRecord => ({ type: 'intent', id, at, expires: at + 31_000, bulk: false });
const answer = (id: string, remaining: number, at = 2): LedgerRecord => ({
  type: 'answer',
  id,
  at,
  wall: now + at,
  status: 200,
  date: now,
  limit: 60,
  remaining,
  reset: now + 60_000,
});
const refusal = (id: string, retryAfter: number, at = 3): LedgerRecord => ({
  type: 'answer',
  id,
  at,
  wall: now + at,
  status: 429,
  retryAfter,
  random: 0,
});
const shown = (ledger: Ledger) => {
  ledger.refresh();
  return encodeState(ledger.state);
};
const file = (generation = 1) => join(folder, `${scope}.${generation}.ledger`);

const [mount, unmount] = ['/bin/mount', '/bin/umount'];
/** Only root may, and not everywhere. */
const mayMount = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-mount-'));
  try {
    execFileSync(mount, ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync(unmount, [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
})();

/** A disk of 16 KiB. */
function mounted(): string {
  const small = join(folder, '..', 'small');
  mkdirSync(small, { recursive: true });
  execFileSync(mount, ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', small]);
  onTestFinished(() => void execFileSync(unmount, ['-l', small]));
  return small;
}

beforeEach(async () => {
  folder = join((await temporaryFolders()).state, 'limits');
  reasons = [];
});

describe('what one writes, all know', () => {
  test('whoever reads it, whenever it began to', () => {
    const [one, two] = [open(), open()];
    one.commit(start);
    two.commit(intent('a'));
    one.commit(answer('a', 57));
    expect(shown(one)).toEqual(shown(two));
    expect(shown(open())).toEqual(shown(one));
    expect(encodeState(readState({ folder, scope }))).toEqual(shown(one));
    expect(one.state.windows.minute?.left).toBe(57);
  });

  test('of two that want the one probe the first in the file has it', () => {
    const [one, two] = [open(), open()];
    one.commit(intent('a', 2));
    two.commit(intent('b', 1));
    expect([...one.state.inFlight.keys()]).toEqual(['a']);
    expect([...two.state.inFlight.keys()]).toEqual(['a']);
  });

  test('keys do not mix', () => {
    open().commit(refusal('a', 60_000));
    expect(open({ scope: 'b'.repeat(32) }).state.gate.at).toBe(0);
    expect(shown(open({ scope: 'b'.repeat(32) }))).toMatchObject({ gate: { at: 0 } });
  });

  test.each(['staging', 'Süd', '犬の店', '🐶', 'a\nb', '\u2028'])('an environment named %j', (env) => {
    const ledger = open();
    ledger.commit({ ...start, env } as LedgerRecord);
    expect(reasons).toEqual([]);
    expect(readState({ folder, scope }).env).toBe(env);
  });
});

describe('a record that is not whole', () => {
  test.each(['\n', '\n0000', '\n00000000 {"type":"answer"}', '\n\0\0\0\0', '\ngarbage\ngarbage'])(
    '%j at the end is skipped',
    (garbage) => {
      const ledger = open();
      ledger.commit(start);
      ledger.commit(intent('a'));
      appendFileSync(file(), garbage);
      ledger.refresh();
      open().commit(answer('a', 57));
      ledger.commit(intent('b'));
      expect(ledger.state.windows.minute?.left).toBe(57);
      expect(shown(open())).toEqual(shown(ledger));
      expect(reasons).toEqual([]);
    },
  );

  test('torn anywhere, a record counts for nothing, and the next one counts', () => {
    const line = `\n${encodeRecord(refusal('a', 60_000))}`;
    for (let length = 0; length < line.length; length += 1) {
      const ledger = open({ scope: String(length).padStart(8, '0') });
      ledger.commit(start);
      appendFileSync(join(folder, `${String(length).padStart(8, '0')}.1.ledger`), line.slice(0, length));
      ledger.refresh();
      expect(ledger.state.gate.at).toBe(0);
      ledger.commit(intent('b'));
      expect(ledger.state.inFlight.size).toBe(1);
    }
    expect(reasons).toEqual([]);
  });

  test('on its way still, it is read when it is whole', () => {
    const line = `\n${encodeRecord(refusal('a', 60_000))}`;
    const ledger = open();
    ledger.commit(start);
    for (const part of [line.slice(0, 10), line.slice(10, 30)]) {
      appendFileSync(file(), part);
      ledger.refresh();
      expect(ledger.state.gate.at).toBe(0);
    }
    appendFileSync(file(), line.slice(30));
    ledger.refresh();
    expect(ledger.state.gate.at).toBe(60_003);
  });

  test('a file of something else tells nothing and is written on', () => {
    mkdirSync(folder, { recursive: true });
    for (const content of ['', '{}', '<html>', '\0'.repeat(100), 'x'.repeat(100_000), '{"version":7}\n']) {
      writeFileSync(file(), content);
      const ledger = open();
      ledger.commit(refusal('a', 60_000));
      expect(shown(open())).toMatchObject({ gate: { at: 60_003 } });
    }
    expect(reasons).toEqual([]);
  });

  test('records of a type that only a later version knows are passed over', () => {
    const ledger = open();
    ledger.commit(start);
    appendFileSync(file(), `\n${encodeRecord({ type: 'later' } as unknown as LedgerRecord)}`);
    ledger.commit(refusal('a', 60_000));
    expect(ledger.state.gate.at).toBe(60_003);
  });
});

describe('a ledger that has grown', () => {
  const fill = (ledger: Ledger, count: number, from = 0) => {
    for (let n = from; n < from + count; n += 1) {
      ledger.commit(intent(`r${n}`, n));
      ledger.commit(answer(`r${n}`, 1000 - n, n + 0.5));
    }
  };

  test('is sealed, and goes on in the next one with the same state', () => {
    const [small, large] = [open({ sealAt: 1000 }), open({ scope: 'b'.repeat(32) })];
    small.commit(start);
    large.commit(start);
    fill(small, 50);
    fill(large, 50);
    expect(shown(small)).toEqual(shown(large));
    expect(shown(open())).toEqual(shown(large));
    expect(existsSync(file(1))).toBe(false);
  });

  test('stays small, in two files at most', () => {
    const ledger = open({ sealAt: 2000 });
    fill(ledger, 300);
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(sizes.length).toBeLessThanOrEqual(2);
    expect(Math.max(...sizes)).toBeLessThan(3000);
  });

  test('one that sleeps through many generations finds the current one, and leaves nothing behind', () => {
    const sleeper = open({ sealAt: 1000 });
    sleeper.commit(start);
    const other = open({ sealAt: 1000 });
    fill(other, 100);
    expect(shown(sleeper)).toEqual(shown(other));
    sleeper.commit(refusal('x', 60_000));
    expect(shown(other)).toEqual(shown(sleeper));
    fill(other, 20, 100);
    expect(readdirSync(folder).length).toBeLessThanOrEqual(2);
  });

  test('sealed by a process that was killed before it made the next one', () => {
    const ledger = open();
    ledger.commit(start);
    ledger.commit(refusal('a', 60_000));
    const before = shown(ledger);
    appendFileSync(file(), `\n${encodeRecord({ type: 'seal' })}\n${encodeRecord(refusal('b', 90_000))}`);
    expect(encodeState(readState({ folder, scope }))).toEqual(before);
    expect(shown(open())).toEqual(before);
    expect(shown(ledger)).toEqual(before);
    expect(existsSync(file(2))).toBe(true);
  });

  test('a next one that is half made is none', () => {
    const ledger = open();
    ledger.commit(refusal('a', 60_000));
    writeFileSync(`${file(2)}.dead`, '\n0000');
    expect(shown(open())).toEqual(shown(ledger));
    fill(open({ sealAt: 500 }), 50);
    expect(readdirSync(folder).filter((name) => name.endsWith('.dead'))).toEqual([]);
  });

  test('whatever is written by whom, with seals at any time: all know the same, and as much as without seals', () => {
    const record = fc.oneof(
      fc.record({ kind: fc.constant('intent' as const), id: fc.integer({ min: 0, max: 9 }), by: fc.nat(2) }),
      fc.record({ kind: fc.constant('answer' as const), id: fc.integer({ min: 0, max: 9 }), by: fc.nat(2) }),
      fc.record({ kind: fc.constant('lost' as const), id: fc.integer({ min: 0, max: 9 }), by: fc.nat(2) }),
      fc.record({ kind: fc.constant('429' as const), id: fc.integer({ min: 0, max: 9 }), by: fc.nat(2) }),
    );
    fc.assert(
      fc.property(fc.array(record, { maxLength: 40 }), fc.integer({ min: 300, max: 3000 }), (records, sealAt) => {
        const name = scopeOf('seals', JSON.stringify([records, sealAt]));
        const writers = [0, 1, 2].map(() => open({ scope: name, sealAt }));
        const whole = open({ scope: `${name}00` });
        let at = 0;
        for (const { kind, id, by } of records) {
          at += 100;
          const made = {
            intent: intent(`r${id}`, at),
            answer: answer(`r${id}`, 60 - (at % 59), at),
            lost: { type: 'lost', id: `r${id}`, at } as const,
            429: refusal(`r${id}`, 300, at),
          }[kind];
          writers[by]?.commit(made);
          whole.commit(made);
        }
        for (const writer of writers) expect(shown(writer)).toEqual(shown(whole));
      }),
      { numRuns: 60 },
    );
  });
});

describe('a folder that is removed while it is used', () => {
  test('what is known goes into the next one', () => {
    const ledger = open();
    ledger.commit(start);
    ledger.commit(refusal('a', 60_000));
    rmSync(folder, { recursive: true });
    ledger.refresh();
    expect(ledger.state.gate.at).toBe(60_003);
    expect(readState({ folder, scope }).gate.at).toBe(60_003);
    expect(reasons).toEqual([]);
  });

  test('also where another process has begun a new one without knowing it', () => {
    const ledger = open();
    ledger.commit(start);
    ledger.commit(refusal('a', 60_000));
    rmSync(folder, { recursive: true });
    const fresh = open();
    fresh.commit(start);
    fresh.commit(intent('b'));
    ledger.commit(intent('c'));
    fresh.refresh();
    expect(fresh.state.gate.at).toBe(60_003);
    expect(shown(ledger)).toEqual(shown(fresh));
    expect(reasons).toEqual([]);
  });
});

describe('a folder that takes no file', () => {
  const blocked = () => {
    mkdirSync(join(folder, '..'), { recursive: true });
    writeFileSync(folder, 'a file where the folder should be');
  };

  test('is told once, and the ledger goes on for this process, one request at a time', async () => {
    blocked();
    const clock = createTestClock();
    const ledger = open();
    const { ask, governor } = createRig({ clock, ledger });
    const { signal } = new AbortController();
    await ask(ok(told(5, 40_000, clock.now())));
    const permit = await governor.admit(signal);
    let second = false;
    const next = governor.admit(signal).then((admitted) => {
      second = true;
      return admitted;
    });
    await clock.sleep(1000);
    expect(second).toBe(false);
    permit.answered(ok(told(4, 39_000, clock.now())));
    (await next).answered(refused({ 'retry-after': '60' }));
    const at = clock.monotonic();
    expect((await ask(ok())) - at).toBe(60_000);
    expect(reasons.map(({ message }) => message)).toEqual([expect.stringMatching(/EEXIST|ENOTDIR/)]);
    expect(ledger.alone).toBe(true);
  });

  test('a folder of /proc', () => {
    folder = '/proc/self/limits-of-petstock';
    open().commit(refusal('a', 60_000));
    expect(reasons).toHaveLength(1);
  });

  test('a full disk: told once, and nothing that is known is forgotten', () => {
    const ledger = open();
    ledger.commit(start);
    ledger.commit(refusal('a', 60_000));
    // From here on every write fails with ENOSPC, while what was written can be read.
    rmSync(folder, { recursive: true });
    mkdirSync(folder, { recursive: true });
    symlinkSync('/dev/full', file(1));
    ledger.commit(intent('b', 70_000));
    expect(reasons.map(({ message }) => message)).toEqual([expect.stringContaining('ENOSPC')]);
    expect(ledger.state.gate.at).toBe(60_003);
    expect(ledger.state.inFlight.size).toBe(1);
    ledger.commit(refusal('b', 90_000, 80_000));
    expect(reasons).toHaveLength(1);
  });

  test.skipIf(!mayMount)('a disk that is full in the middle of a record', () => {
    folder = mounted();
    const ledger = open();
    ledger.commit(start);
    for (let n = 0; n < 400; n += 1) ledger.commit(intent(`r${n}`, n));
    expect(reasons).toHaveLength(1);
    ledger.commit(refusal('a', 60_000));
    expect(ledger.state.gate.at).toBe(60_003);
  });

  test.skipIf(!mayMount)('a read-only home, with a gate in it: the gate holds', () => {
    folder = mounted();
    writeFileSync(file(), `\n${encodeRecord(refusal('a', 60_000))}`);
    execFileSync(mount, ['-o', 'remount,ro', folder]);
    const ledger = open();
    ledger.refresh();
    expect(reasons.map(({ message }) => message)).toEqual([expect.stringContaining('EROFS')]);
    expect(ledger.state.gate.at).toBe(60_003);
    expect(readState({ folder, scope }).gate.at).toBe(60_003);
  });

  test('a ledger that has been cut short by somebody is read on from its new end', () => {
    const ledger = open();
    ledger.commit(start);
    ledger.commit(refusal('a', 60_000));
    truncateSync(file(), 0);
    ledger.commit(intent('b', 70_000));
    expect(ledger.state.gate.at).toBe(60_003);
    expect(ledger.state.inFlight.size).toBe(1);
  });
});

test.each([
  ['NFS', 0x6969, true],
  ['SMB', 0xff534d42, true],
  ['FUSE', 0x65735546, true],
  ['9P, the disks of Windows in WSL', 0x01021997, true],
  ['ext4', 0xef53, false],
  ['XFS', 0x58465342, false],
  ['Btrfs', 0x9123683e, false],
  ['tmpfs', 0x01021994, false],
  ['overlay', 0x794c7630, false],
])('%s is a network file system: %#', (_name, type, remote) => {
  expect(isRemote(type)).toBe(remote);
});

describe('on disk', () => {
  test('the folders are 0700 and the files 0600', () => {
    const ledger = open({ sealAt: 100 });
    ledger.commit(start);
    ledger.commit(intent('a'));
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([join(folder, '..'), folder].map(mode)).toEqual(['700', '700']);
    expect(new Set(readdirSync(folder).map((name) => mode(join(folder, name))))).toEqual(new Set(['600']));
  });

  test('a scope is a hash of the service and the key', () => {
    const key = 'psk_secret_0123456789';
    expect(scopeOf('https://store.example', key)).toMatch(/^[0-9a-f]{32}$/);
    const scopes = ['https://store.example', 'https://other.example'].map((service) => scopeOf(service, key));
    expect(new Set([...scopes, scopeOf('https://store.example', 'k')]).size).toBe(3);
  });

  test('a ledger that nobody holds any more keeps no file open', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const descriptors = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
        } catch {
          return false;
        }
      }).length;
    for (let n = 0; n < 20; n += 1) open().commit(intent(`r${n}`, n));
    expect(descriptors()).toBeGreaterThan(0);
    for (let turn = 0; turn < 50 && descriptors() > 0; turn += 1) {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(descriptors()).toBe(0);
  });
});
