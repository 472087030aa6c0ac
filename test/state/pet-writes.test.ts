import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Connection } from '../../src/state/sqlite/connection.ts';
import { loadEngine, type Row, type Value } from '../../src/state/sqlite/engine.ts';
import { serviceNumber } from '../../src/state/sqlite/leases.ts';
import { lastKnownQuantity, writesAfter } from '../../src/state/sqlite/pet-writes.ts';
import { migrate } from '../../src/state/sqlite/schema.ts';
import { SqliteHistory } from '../../src/state/sqlite/sqlite-history.ts';
import { SqlitePresence } from '../../src/state/sqlite/sqlite-presence.ts';
import { createStateClock, FakeProcesses, headOf, service, temporaryFolder } from './rig.ts';

/** Keeps the queries that it is asked. */
class RecordingConnection extends Connection {
  readonly queries: string[] = [];

  override get(sql: string, ...values: Value[]): Row | undefined {
    this.queries.push(sql);
    return super.get(sql, ...values);
  }

  override all(sql: string, ...values: Value[]): Row[] {
    this.queries.push(sql);
    return super.all(sql, ...values);
  }
}

test('what was written of a pet is looked up by the pet, never by reading a whole run', async () => {
  const file = join(temporaryFolder(), 'state.db');
  writeFileSync(file, '');
  const connection = new RecordingConnection(await loadEngine(), file);
  onTestFinished(() => connection.close());
  migrate(connection, () => {});
  serviceNumber(connection, service);
  connection.queries.length = 0;
  writesAfter(connection, { service, petId: 1n, run: '20260115T120020Z-k3x9', sequence: 1 });
  lastKnownQuantity(connection, service, 1n);
  const ofRows = connection.queries.filter((sql) => sql.includes('FROM rows'));
  expect(ofRows).toHaveLength(4);
  for (const sql of ofRows) {
    const plan = connection.all(`EXPLAIN QUERY PLAN ${sql}`, ...Array(sql.split('?').length - 1).fill(1));
    const [lookup] = plan.map(({ detail }) => `${detail}`).filter((detail) => /^(SEARCH|SCAN) rows\b/.test(detail));
    expect(lookup).toMatch(/^SEARCH rows USING (COVERING )?INDEX rows_of_pet/);
  }
});

test('what is in the way of a row is looked up by its pet, in one query where there is nothing', async () => {
  const file = join(temporaryFolder(), 'state.db');
  writeFileSync(file, '');
  const connection = new RecordingConnection(await loadEngine(), file);
  onTestFinished(() => connection.close());
  migrate(connection, () => {});
  const clock = createStateClock();
  const processes = new FakeProcesses().view(1);
  const presence = new SqlitePresence(connection, { clock, processes, command: 'inventory apply' });
  const history = new SqliteHistory({ connection, presence, clock, random: () => 0.5 }, 'test');
  const row = { row: 1, line: 2, petId: 1n, before: 1, after: 2, reason: undefined, ref: undefined };
  const log = await history.begin(headOf(), [row, { ...row, row: 2, petId: 2n }]);
  connection.queries.length = 0;
  await log.intend([{ row: 1, petId: 1n, expires: 10 }], { sequence: 2, at: 0 });
  const looks = connection.queries.filter((sql) => /\bFROM (rows|leases)\b/.test(sql));
  expect(looks).toHaveLength(1);
  for (const sql of looks) {
    const plan = connection.all(`EXPLAIN QUERY PLAN ${sql}`, ...Array(sql.split('?').length - 1).fill(1));
    const scans = plan
      .map(({ detail }) => `${detail}`)
      .filter((detail) => detail.startsWith('SCAN') && !detail.includes('CONSTANT'));
    expect(scans).toEqual([]);
  }
});
