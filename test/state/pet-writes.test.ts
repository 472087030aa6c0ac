import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PetWrites } from '../../src/state/pet-writes.ts';
import { SqliteConnection } from '../../src/state/sqlite/connection.ts';
import { loadEngine } from '../../src/state/sqlite/engine.ts';
import { makeTables } from '../../src/state/sqlite/schema.ts';
import { SqliteStateDatabase, sqliteState } from '../../src/state/sqlite/sqlite-state.ts';
import type { State } from '../../src/state/state.ts';
import type { Row, Value } from '../../src/state/statements.ts';
import { newFolder } from '../support/new-folder.ts';
import { createStateClock, FakeProcesses, headOf, readVersionOf, rowsFor, serviceName } from './rig.ts';

class RecordingConnection extends SqliteConnection {
  readonly queries: string[] = [];

  override all(sql: string, ...values: Value[]): Row[] {
    this.queries.push(sql);
    return super.all(sql, ...values);
  }

  override run(sql: string, ...values: Value[]): number {
    this.queries.push(sql);
    return super.run(sql, ...values);
  }
}

async function recording(): Promise<RecordingConnection> {
  const file = join(newFolder(), 'state.db');
  writeFileSync(file, '');
  const connection = new RecordingConnection(await loadEngine(), file);
  onTestFinished(() => connection.close());
  makeTables(connection, createStateClock());
  return connection;
}

function stateOver(connection: SqliteConnection, pid = 1): State {
  const [clock, processes] = [createStateClock(), new FakeProcesses().view(pid)];
  return sqliteState(connection, { clock, processes, command: 'inventory apply', random: () => 0.5, warn: () => {} });
}

/** Returns how SQLite looks up tables for a query, without those that are made for this query. */
function lookups(connection: SqliteConnection, sql: string): string[] {
  const plan = connection.all(`EXPLAIN QUERY PLAN ${sql}`, ...Array(sql.split('?').length - 1).fill(1));
  return plan
    .map(({ detail }) => `${detail}`)
    .filter((detail) => /^(SEARCH|SCAN) /.test(detail) && !detail.includes('CONSTANT'));
}

/** Scans of tables that stay small. */
const small = /^SCAN (sequence|presence|services|line|sightings)\b/;

describe('queries of the state', () => {
  test('finds the writes of a pet by an index or a key instead of a scan', async () => {
    const connection = await recording();
    const database = new SqliteStateDatabase(connection, createStateClock(), () => false);
    connection.queries.length = 0;
    const petWrites = new PetWrites(database);
    await petWrites.after({ serviceName, run: '20260115T120020Z-k3x9' }, [{ row: 1, petId: 1n }]);
    await petWrites.lastKnown(serviceName, [{ petId: 1n }]);
    const ofRows = connection.queries.filter((sql) => sql.includes('FROM rows'));
    expect(ofRows).toHaveLength(4);
    for (const sql of ofRows) {
      const found = lookups(connection, sql).filter((detail) => /^\w+ rows\b/.test(detail));
      const isByKey = (detail: string) => /^SEARCH rows USING PRIMARY KEY \(run=\? AND row=\?\)$/.test(detail);
      const ofPet = found.filter((detail) => !isByKey(detail));
      const byPet = expect.stringMatching(/^SEARCH rows USING (COVERING )?INDEX rows_of_pet/);
      expect({ sql, ofPet }).toEqual({ sql, ofPet: sql.includes('pet_id = ?') ? [byPet] : [] });
    }
  });

  test('does not scan a large table in any query of a run', async () => {
    const connection = await recording();
    const { history, pets } = stateOver(connection);
    const log = await history.begin(headOf(), rowsFor(1n, 2n));
    connection.queries.length = 0;
    const [lock, readVersion] = [pets.lock(serviceName, 1n), await readVersionOf({ pets })];
    await lock.tryAcquire();
    await log.intend([{ row: 1, petId: 1n, inFlightUntil: 10 }], { sequence: 0, at: 0 }, lock);
    await log.settle([{ row: 1, petId: 1n, result: 'applied' }]);
    await log.intend([{ row: 2, petId: 2n, inFlightUntil: 10 }], readVersion);
    await log.end();
    await lock.release();
    expect(connection.queries.filter((sql) => /\bFROM rows AS own\b/.test(sql))).toHaveLength(2);
    for (const sql of new Set(connection.queries)) {
      if (!/^(SELECT|UPDATE|DELETE)/.test(sql)) continue;
      const scans = lookups(connection, sql).filter((detail) => detail.startsWith('SCAN') && !small.test(detail));
      expect({ sql, scans }).toEqual({ sql, scans: [] });
    }
  });
});

test('does not wait for the request of a process that has ended between two queries', async () => {
  const connection = await recording();
  const log = await stateOver(connection).history.begin(headOf(), rowsFor(1n));
  await log.intend([{ row: 1, petId: 1n, inFlightUntil: 30_000 }], undefined);
  const { pets } = stateOver(connection, 2);
  // Called after the leases have been read.
  const has = () => {
    connection.exec('DELETE FROM leases; DELETE FROM presence');
    return true;
  };
  expect(await pets.inFlightUntil(serviceName, { has })).toBeUndefined();
});
