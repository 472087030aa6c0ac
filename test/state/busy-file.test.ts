import { describe, expect, test } from 'vitest';
import { type SqliteConnection, toPetstockError } from '../../src/state/sqlite/connection.ts';
import { SqliteStateDatabase } from '../../src/state/sqlite/sqlite-state.ts';
import { writeOnly } from '../../src/state/state-database.ts';
import { createStateClock } from './rig.ts';

/** Returns SQLite's error after its own wait for the lock, as a PetstockError. */
function locked(): unknown {
  const error = Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
  return toPetstockError(error, '/state.db', () => []);
}

/** Returns a transaction that finds the lock taken this many times. */
function rig(times: number, { error = locked(), isAnyStopped = false } = {}) {
  const events: string[] = [];
  const clock = { ...createStateClock(), sleep: async () => void events.push('sleep') };
  const work = () => {
    events.push('try');
    if (events.filter((event) => event === 'try').length <= times) throw error;
    return 'done';
  };
  const connection = { file: '/state.db', quick: work } as Pick<SqliteConnection, 'file'> as SqliteConnection;
  const database = new SqliteStateDatabase(connection, clock, () => isAnyStopped);
  return { run: () => writeOnly(database, undefined, () => []), events };
}

describe('a transaction that does not get the lock', () => {
  test('retries a transaction after a pause if it does not get the lock', async () => {
    const { run, events } = rig(2);
    await expect(run()).resolves.toBe('done');
    expect(events).toEqual(['try', 'sleep', 'try', 'sleep', 'try']);
  });

  test('gives up on a transaction after three attempts to get the lock, and names the file', async () => {
    const { run, events } = rig(10);
    await expect(run()).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'The state in /state.db has been locked for too long by another process',
    });
    expect(events).toHaveLength(5);
  });

  test('does not retry a transaction if a process that may hold the lock is suspended', async () => {
    const { run, events } = rig(1, { isAnyStopped: true });
    await expect(run()).rejects.toMatchObject({ kind: 'unavailable' });
    expect(events).toEqual(['try']);
  });
});

test('does not retry a transaction that fails because the disk is full', async () => {
  const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
  const { run, events } = rig(1, { error: toPetstockError(full, '/state.db', () => []) });
  await expect(run()).rejects.toMatchObject({ kind: 'failure', hint: undefined });
  expect(events).toEqual(['try']);
});
