import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Home, runProgram, type Served, serve, startProgram, temporaryHome } from '../support/program.ts';

/** `PETSTOCK_RUNS=100` for the whole matrix. */
const crashes = Number(process.env.PETSTOCK_RUNS ?? 10);
const rows = 300;
/** So that a run is not over before it is killed. */
const unhurried = ['--fault', 'PATCH /inventory/*:delay=8'];
const noLimit = ['--limit-minute', '10000000', '--limit-day', '100000000'];

test.each(Array.from({ length: crashes }, (_, index) => Math.floor((index * (rows - 80)) / crashes)))(
  'kill -9 of a run of 300 rows once %i have their answer: it is resumed exactly, and undone',
  async (answers) => {
    const served = await serve(['--pets', `${rows}`, ...noLimit, ...unhurried]);
    const home = temporaryHome();
    const fresh = await stockIn(served, home);
    const wanted = new Map([...fresh].map(([petId, quantity], index) => [petId, quantity + 1 + (index % 7)]));
    expect(wanted.size).toBe(rows);
    const file = join(home.folder, 'changes.csv');
    writeFileSync(file, `petId,quantity\n${[...wanted].map((cells) => cells.join(',')).join('\n')}\n`);

    const program = startProgram(['inventory', 'apply', file, '--yes', '--concurrency', '4'], {
      home,
      env: served.env,
    });
    const run = await runWithAnswers(home, answers);
    program.kill('SIGKILL');
    expect((await program.result).signal).toBe('SIGKILL');
    const answered = answeredPets(home, run);
    const seen = (await served.journal()).length;

    const options = { home, env: served.env };
    const resumed = await runProgram(['inventory', 'apply', '--resume', run, '--yes', '--json'], options);
    expect(resumed).toMatchObject({ code: 0 });
    expect(JSON.parse(resumed.stdout).counts).toMatchObject({ applied: rows, failed: 0, conflict: 0 });
    const sentAfter = (await served.journal()).slice(seen).filter(({ method }) => method === 'PATCH');
    expect(sentAfter.length).toBeGreaterThan(0);
    expect(sentAfter.filter(({ path }) => answered.has(path.replace(/.*\//, '')))).toEqual([]);
    expect(await stockIn(served, home)).toEqual(wanted);

    expect(await runProgram(['undo', run, '--yes'], options)).toMatchObject({ code: 0 });
    expect(await stockIn(served, home)).toEqual(fresh);
  },
);

async function stockIn({ env }: Served, home: Home): Promise<ReadonlyMap<string, number>> {
  const { stdout } = await runProgram('inventory list -o tsv', { home, env });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  return new Map(lines.map(([petId = '', quantity]) => [petId, Number(quantity)]));
}

/** Resolves with the run once so many of its rows have their answer in the history. */
function runWithAnswers(home: Home, answers: number): Promise<string> {
  const folder = join(home.state, 'history');
  return vi.waitFor(
    () => {
      const file = existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith('.ndjson')) : undefined;
      const run = file?.replace('.ndjson', '') ?? '';
      const records = run === '' ? [] : recordsOf(home, run);
      if (!records.some(({ type }) => type === 'intent')) throw new Error('nothing is sent yet');
      if (records.filter(({ type }) => type === 'outcome').length < answers) throw new Error('too few answers yet');
      return run;
    },
    { timeout: 30_000, interval: 1 },
  );
}

interface AnyRecord {
  readonly type: string;
  readonly row: number;
  readonly petId: string;
}

function recordsOf(home: Home, run: string): AnyRecord[] {
  const lines = readFileSync(join(home.state, 'history', `${run}.ndjson`), 'utf8').split('\n');
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as AnyRecord];
    } catch {
      return [];
    }
  });
}

/** The pets whose outcome is in the file of the run. */
function answeredPets(home: Home, run: string): ReadonlySet<string> {
  const records = recordsOf(home, run);
  const pets = new Map(records.filter(({ type }) => type === 'change').map(({ row, petId }) => [row, petId]));
  return new Set(records.filter(({ type }) => type === 'outcome').map(({ row }) => pets.get(row) ?? ''));
}
