import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reportOf } from '../support/petstock.ts';
import { type Home, type ProgramOptions, runProgram, type Served, serve, temporaryHome } from '../support/program.ts';
import { stateSql } from '../support/state-sql.ts';

/*
 * What a run holds of its rows, whatever the machine is busy with: V8 gives up where what is held does not fit, and where it
 * fits it does not, however often it has to collect. In this much fits the program with an object for each of 100,000 rows.
 */
const heap = { NODE_OPTIONS: '--max-old-space-size=64' };
const rows = 100_000;
const noLimit = ['--limit-minute', '10000000', '--limit-day', '100000000'];
/** As long as it takes: a run of so many rows does much on its disk. */
const timeout = 600_000;

test(
  'a run of 100,000 rows is planned, begun, reported, resumed and taken back in 64 MB of heap',
  async () => {
    // The run ends at its first request: what is held is the same, and it does not take minutes.
    const served = await serve(['--pets', `${rows}`, ...noLimit, '--fault', 'PATCH /inventory/*:status=401']);
    const home = temporaryHome();
    const petstock = (command: string) => runProgram(command, { home, env: { ...served.env, ...heap } });
    const file = await changes(served, { home, env: served.env });

    const applied = await petstock(`inventory apply ${file} --yes --json --failed-out ${file}.failed.csv`);
    expect(applied).toMatchObject({ code: 4, signal: null });
    const { run, counts } = reportOf(applied);
    expect(counts).toMatchObject({ notAttempted: rows });

    const resumed = await petstock(`inventory apply --resume ${run} --dry-run --json`);
    expect(resumed).toMatchObject({ code: 0, signal: null });
    expect(reportOf(resumed).rows.filter(({ result }) => result === 'planned')).toHaveLength(rows);

    await asIfWritten(home);
    const undone = await petstock(`undo ${run} --dry-run --json`);
    expect(undone).toMatchObject({ code: 0, signal: null });
    expect(reportOf(undone).rows.filter(({ result }) => result === 'planned')).toHaveLength(rows);
  },
  timeout,
);

test(
  'a run of 100,000 rows is written in 200 MiB of memory, as the operating system counts it',
  async () => {
    const served = await serve(['--pets', `${rows}`, ...noLimit]);
    const home = temporaryHome();
    const file = await changes(served, { home, env: served.env });
    const peak = join(home.folder, 'peak');
    const noting = `process.on('exit',()=>process.getBuiltinModule('fs').writeFileSync('${peak}',''+process.resourceUsage().maxRSS))`;
    const env = { ...served.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noting)}` };
    const applied = await runProgram(`inventory apply ${file} --yes --json`, { home, env });
    expect(reportOf(applied).counts).toMatchObject({ applied: rows });
    expect(Number(readFileSync(peak, 'utf8')) / 1024).toBeLessThan(200);
  },
  timeout,
);

/** A file that adds one to the stock of every pet. */
async function changes({ env }: Served, options: ProgramOptions & { readonly home: Home }): Promise<string> {
  const { stdout } = await runProgram('inventory list -o tsv', { ...options, env });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(rows);
  const file = join(options.home.folder, 'changes.csv');
  const changed = lines.map((line) => line.split('\t')).map(([petId, quantity]) => `${petId},${Number(quantity) + 1}`);
  writeFileSync(file, `petId,quantity\n${changed.join('\n')}\n`);
  return file;
}

/** The run has written all of its rows, and left the stock that is there. */
async function asIfWritten({ state }: Home): Promise<void> {
  await stateSql(
    state,
    `UPDATE rows SET result = 'applied', after = before, before = after, quantity = before`,
    'UPDATE runs SET applied = changes, pending = 0, unknown = 0, failed = 0',
  );
}
