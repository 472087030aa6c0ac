import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { within } from '../../support/petstock.ts';
import { runSql } from '../../support/postgres.ts';
import { expectResumed, moments, rows, setting, untilAnswered } from './interrupted-run.ts';

test.each(moments)(
  'kill -9 of PostgreSQL once %i rows are answered: nothing is lost or doubled, and another machine goes on',
  async (count) => {
    const given = await setting();
    const before = await given.stock();
    const program = given.begin();
    await untilAnswered(given.served, count);
    await given.server.kill();
    const { code, stderr } = await program.result;
    expect([5, 8]).toContain(code);
    expect(stderr).toMatch(/Hint: petstock inventory apply --resume \S+ --env staging/);
    const sent = (await given.served.journal()).filter(({ method }) => method === 'PATCH');
    await given.server.restart();
    // What was sent has its intent on the disk of the database.
    const recorded = await runSql(
      given.server.url,
      "SELECT pet_id::text AS pet FROM petstock.rows WHERE result <> 'pending'",
    );
    const pets = new Set(recorded.map(({ pet }) => pet));
    expect(sent.filter(({ path }) => !pets.has(path.replace(/.*\//, '')))).toEqual([]);
    await expectResumed(given, before);
  },
  120_000,
);

test('a PostgreSQL that comes back at once, as after a failover, is waited for', async () => {
  const given = await setting();
  const before = await given.stock();
  const program = given.begin();
  await untilAnswered(given.served, rows / 2);
  await given.server.kill();
  await given.server.restart();
  expect(await program.result).toMatchObject({ code: 0 });
  // Outcomes that were not on its disk yet are written again.
  expect(await given.machine().newest()).toMatchObject({ state: 'done', counts: { applied: rows } });
  await expectResumed(given, before);
}, 120_000);

test('a PostgreSQL that hangs: what is in flight ends, nothing more is sent, and another machine goes on', async () => {
  const given = await setting();
  const before = await given.stock();
  const program = given.begin();
  await untilAnswered(given.served, rows / 2);
  given.server.freeze();
  const { code, stderr } = await program.result;
  expect([5, 8]).toContain(code);
  expect(stderr).toContain('does not answer');
  expect(stderr).toMatch(/Hint: petstock inventory apply --resume \S+ --env staging/);
  expect((await given.served.journal()).filter(({ status }) => status === null)).toEqual([]);
  given.server.thaw();
  await expectResumed(given, before);
}, 120_000);

test('a PostgreSQL that is slow: after its time-out nothing more is sent, and another machine goes on', async () => {
  const given = await setting();
  const before = await given.stock();
  const program = given.begin();
  await untilAnswered(given.served, rows / 2);
  const holder = new pg.Client({ connectionString: given.server.url });
  onTestFinished(() => holder.end());
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE petstock.services IN ACCESS EXCLUSIVE MODE');
  const { code, stderr } = await within(60_000, 'the end of a run whose database is slow', program.result);
  expect([5, 8]).toContain(code);
  expect(stderr).toContain('is too busy');
  expect(stderr).toMatch(/Hint: petstock inventory apply --resume \S+ --env staging/);
  await holder.query('ROLLBACK');
  await expectResumed(given, before);
}, 120_000);

test.each(moments)(
  'kill -9 of a machine once %i rows are answered: another one goes on',
  async (count) => {
    const given = await setting();
    const before = await given.stock();
    const program = given.begin();
    await untilAnswered(given.served, count);
    program.kill('SIGKILL');
    await program.result;
    await expectResumed(given, before);
  },
  120_000,
);
