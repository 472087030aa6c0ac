import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type ListedRun, petstockAt, reportOf } from '../support/petstock.ts';
import { type Home, runProgram, type Served, serve, startProgram, temporaryHome } from '../support/program.ts';

/** `PETSTOCK_RUNS=100` for the whole matrix. */
const crashes = Number(process.env.PETSTOCK_RUNS ?? 5);
const rows = 300;
/** So that a run is not over before it is killed. */
const unhurried = ['--fault', 'PATCH /inventory/*:delay=8'];
const noLimit = ['--limit-minute', '10000000', '--limit-day', '100000000'];
/** Short, since a resume waits until no request of the killed process can be on its way any more. */
const timeout = ['--timeout', '0.5'];

/** From before the first answer to after the last one. */
const instants = Array.from({ length: crashes }, (_, index) => Math.round((index * rows) / Math.max(1, crashes - 1)));

test.each(instants)(
  'kill -9 of a run of 300 rows once %i are answered: it is resumed exactly, and undone',
  async (answers) => {
    const served = await serve(['--pets', `${rows}`, ...noLimit, ...unhurried]);
    const home = temporaryHome();
    const petstock = petstockAt(served, home);
    const fresh = await stockIn(served, home);
    const wanted = new Map([...fresh].map(([petId, quantity], index) => [petId, quantity + 1 + (index % 7)]));
    expect(wanted.size).toBe(rows);
    const file = join(home.folder, 'changes.csv');
    writeFileSync(file, `petId,quantity\n${[...wanted].map((cells) => cells.join(',')).join('\n')}\n`);

    const apply = ['inventory', 'apply', file, '--yes', '--concurrency', '4', ...timeout];
    const program = startProgram(apply, { home, env: served.env });
    await untilAnswered(served, answers);
    program.kill('SIGKILL');
    const { signal, code } = await program.result;
    // After the last answer it may be faster than the signal.
    expect(signal ?? code).toBe(answers === rows && signal === null ? 0 : 'SIGKILL');
    const killed = await petstock.newest();
    await expectTruth(served, home, killed);
    const answered = await answeredPets(served, home, killed.run);
    const seen = (await served.journal()).length;

    const resumed = await petstock.run(['inventory', 'apply', '--resume', killed.run, '--yes', '--json', ...timeout]);
    expect(resumed).toMatchObject({ code: 0 });
    const { applied = 0, unchanged = 0, ...others } = reportOf(resumed).counts;
    expect(applied + unchanged).toBe(rows);
    expect(Object.values(others).filter((count) => count > 0)).toEqual([]);
    const sentAfter = (await served.journal()).slice(seen).filter(({ method }) => method === 'PATCH');
    expect(sentAfter.filter(({ path }) => answered.has(path.replace(/.*\//, '')))).toEqual([]);
    expect(await stockIn(served, home)).toEqual(wanted);
    expect(await petstock.newest()).toMatchObject({ run: killed.run, state: 'done' });

    expect(await petstock.run(['undo', killed.run, '--yes'])).toMatchObject({ code: 0 });
    expect(await stockIn(served, home)).toEqual(fresh);
  },
);

async function stockIn({ env }: Served, home: Home): Promise<ReadonlyMap<string, number>> {
  const lines = await tsv('inventory list', env, home);
  return new Map(lines.map(([petId = '', quantity]) => [petId, Number(quantity)]));
}

async function tsv(command: string, env: Served['env'], home: Home): Promise<readonly (readonly string[])[]> {
  const { stdout } = await runProgram(`${command} -o tsv`, { home, env });
  const lines = stdout.trim().split('\n');
  return lines.map((line) => line.split('\t'));
}

/** Resolves once the service has answered so many changes; for none, once the first has arrived. */
function untilAnswered(served: Served, answers: number): Promise<void> {
  return vi.waitFor(
    async () => {
      const patches = (await served.journal()).filter(({ method }) => method === 'PATCH');
      if (patches.length === 0) throw new Error('nothing is sent yet');
      if (patches.filter(({ status }) => status !== null).length < answers) throw new Error('too few answers yet');
    },
    { timeout: 30_000, interval: 1 },
  );
}

/** What the history says of a killed run: every row that was sent was written down before, and every answer was one. */
async function expectTruth(served: Served, home: Home, { run }: ListedRun): Promise<void> {
  const entries = (await served.journal()).filter(({ method }) => method === 'PATCH');
  const sent = new Set(entries.map(({ path }) => path.replace(/.*\//, '')));
  const done = new Set(entries.filter(({ status }) => status === 200).map(({ path }) => path.replace(/.*\//, '')));
  const recorded = await tsv(`history show ${run}`, served.env, home);
  expect(recorded.length).toBe(rows);
  const pending = recorded.filter((cells) => cells[5] === 'pending').map(([, , petId]) => petId ?? '');
  expect(pending.filter((petId) => sent.has(petId))).toEqual([]);
  const applied = recorded.filter((cells) => cells[5] === 'applied').map(([, , petId]) => petId ?? '');
  expect(applied.filter((petId) => !done.has(petId))).toEqual([]);
}

/** The pets whose outcome is in the history of the run. */
async function answeredPets({ env }: Served, home: Home, run: string): Promise<ReadonlySet<string>> {
  const lines = await tsv(`history show ${run}`, env, home);
  return new Set(lines.filter((cells) => cells[5] === 'applied').map(([, , petId]) => petId ?? ''));
}
