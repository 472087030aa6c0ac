import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  expectIntended,
  expectResumed,
  moments,
  oneMoment,
  rows,
  setting,
  untilAnswered,
} from '../../support/interrupted-run.ts';
import { within } from '../../support/petstock.ts';
import { temporaryPostgres } from '../../support/postgres.ts';
import { openTeam } from '../../support/team.ts';

vi.setConfig({ testTimeout: 300_000 });

const resumable = /Hint: petstock inventory apply --resume \S+ --env staging/;

test.each(moments)(
  'neither loses nor doubles a write after kill -9 of PostgreSQL after %i responses',
  async (count) => {
    const given = await setting();
    const program = given.begin();
    await untilAnswered(given.service, count);
    await given.server.kill();
    given.release();
    const { code, stderr } = await program.result;
    expect([5, 8]).toContain(code);
    expect(stderr).toMatch(resumable);
    await given.server.restart();
    await expectIntended(given.service, given.server);
    await expectResumed(given);
  },
);

test('sends nothing before Retry-After has passed even if PostgreSQL is killed after the 429', async () => {
  // A change whose commit does not wait for the disk is lost when the server is killed.
  const server = await temporaryPostgres({ settings: ['fsync = on', "wal_writer_delay = '10s'"] });
  const { machine, service } = await openTeam(server.url);
  const [till, office] = [await machine('till'), await machine('office')];
  expect(await till.run('inventory get 4')).toMatchObject({ code: 0 });
  service.setFaults(['*:first=1:status=429:retry-after=3600']);
  expect(await till.run('inventory get 4')).toMatchObject({ code: 6 });
  await server.kill();
  await server.restart();
  for (const { run } of [office, till]) {
    for (const command of ['inventory get 4', 'inventory set 4 2']) {
      expect(await run(command)).toMatchObject({ code: 6, requests: [] });
    }
  }
});

test('completes the history on resume if PostgreSQL was killed before the last outcome', async () => {
  const given = await setting();
  const program = given.machine().start(`inventory adjust ${rows} +1`);
  await given.held;
  await given.server.kill();
  given.release();
  const { code, stderr } = await program.result;
  expect(stderr).toContain(
    `The stock of pet ${rows} was set to 11, but the history may be incomplete: The shared state`,
  );
  const [, hint = ''] = /Hint: petstock (inventory apply --resume \S+ --env staging)/.exec(stderr) ?? [];
  expect({ code, hint }).toEqual({ code: 8, hint: expect.any(String) });
  await given.server.restart();
  const other = given.machine();
  await vi.waitFor(async () => expect(await other.run(`${hint} --yes`)).toMatchObject({ code: 0 }), {
    timeout: 120_000,
    interval: 1000,
  });
  expect(await other.newest()).toMatchObject({ state: 'done', counts: { applied: 1 } });
  expect(given.service.seen('PATCH')).toHaveLength(1);
});

test('goes on if PostgreSQL is back within 9 s', async () => {
  const given = await setting();
  const program = given.begin();
  await untilAnswered(given.service, rows / 2);
  const killedAt = performance.now();
  await given.server.kill();
  await given.server.restart();
  const away = performance.now() - killedAt;
  given.release();
  const { code } = await program.result;
  // The command waits 10 s for the database, and a busy machine may take longer.
  expect(away < 9000 ? [0] : [0, 5, 8]).toContain(code);
  const whole = { state: 'done', counts: { applied: rows } };
  if (code === 0) expect(await given.machine().newest()).toMatchObject(whole);
  await expectResumed(given);
});

test('finishes requests in flight if PostgreSQL hangs, and lets another machine resume the run', async () => {
  const given = await setting();
  const program = given.begin();
  await untilAnswered(given.service, rows / 2);
  given.server.freeze();
  given.release();
  const { code, stderr } = await program.result;
  expect([5, 8]).toContain(code);
  expect(stderr).toMatch(/does not respond|did not accept a connection in time/);
  expect(stderr).toMatch(resumable);
  expect(given.service.requests.filter(({ status }) => status === undefined)).toEqual([]);
  given.server.thaw();
  await expectResumed(given);
});

test('ends a run if a lock in PostgreSQL is held too long, and lets another machine resume the run', async () => {
  const given = await setting();
  const program = given.begin();
  await untilAnswered(given.service, rows / 2);
  const holder = new pg.Client({ connectionString: given.server.url });
  onTestFinished(() => holder.end());
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE petstock.services IN ACCESS EXCLUSIVE MODE');
  given.release();
  const { code, stderr } = await within(120_000, 'the end of a run whose database is slow', program.result);
  expect([5, 8]).toContain(code);
  expect(stderr).toContain('has been locked for too long');
  expect(stderr).toMatch(resumable);
  await holder.query('ROLLBACK');
  await expectResumed(given);
});

test.each(moments)('resumes on another machine a run that was killed after %i responses', async (count) => {
  const given = await setting();
  const program = given.begin();
  await untilAnswered(given.service, count);
  program.kill('SIGKILL');
  await program.result;
  given.release();
  await expectResumed(given);
});

test.each(oneMoment)(
  'does not send from a suspended process whose run was taken over after %i responses',
  async (count) => {
    const given = await setting();
    const program = given.begin();
    await untilAnswered(given.service, count);
    program.kill('SIGSTOP');
    given.release();
    // The database ends the connection of a silent process after 5 s.
    await expectResumed(given);
    const third = given.machine();
    expect(await third.run('inventory adjust 1 +5 -q')).toMatchObject({ code: 0 });
    const [stock, sent] = [given.stock(), given.service.seen('PATCH').length];
    program.kill('SIGCONT');
    const { code } = await program.result;
    expect(given.service.seen('PATCH')).toHaveLength(sent);
    // It reads from the history what became of its rows.
    expect([0, 5, 7, 8]).toContain(code);
    expect(given.stock()).toEqual(stock);
    expect(await third.newest()).toMatchObject({ command: 'inventory adjust', state: 'done' });
    const [, resumed] = await third.history();
    expect(resumed).toMatchObject({ command: 'inventory apply', state: 'done' });
    expect(await third.run('state check')).toMatchObject({ code: 0 });
  },
);
