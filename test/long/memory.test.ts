import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { reportOf } from '../support/petstock.ts';
import { runProgram, serve, temporaryHome } from '../support/program.ts';
import { stateSql } from '../support/recorded-runs.ts';
import type { PrintedReport } from '../support/shop.ts';

/**
 * A heap limit measures what a run keeps of its rows, independently of the machine: V8 fails if it needs more. 64 MB is
 * enough for one object for each of 100,000 rows.
 */
const heap = { NODE_OPTIONS: '--max-old-space-size=64' };
const rows = 100_000;
/** A run of this many rows writes a lot to the disk. */
vi.setConfig({ testTimeout: 600_000 });

test('plans an apply, a resume and an undo of 100,000 rows in 64 MB of heap', async () => {
  // The first request ends the run early. What the run keeps in memory is the same.
  const { env, home, file } = await opened(['PATCH /inventory/*:status=401']);
  const petstock = async (command: string, code: number) => {
    const result = await runProgram(command, { home, env: { ...env, ...heap } });
    expect(result).toMatchObject({ code, signal: null });
    return reportOf(result);
  };
  const planned = ({ rows }: PrintedReport) => rows.filter(({ result }) => result === 'planned');

  const { run, counts } = await petstock(`inventory apply ${file} --yes --json --failed-out ${file}.failed.csv`, 4);
  expect(counts).toMatchObject({ notAttempted: rows });
  expect(planned(await petstock(`inventory apply --resume ${run} --dry-run --json`, 0))).toHaveLength(rows);
  // Records the run as applied, with the present stock as its result.
  await stateSql(home.state, `UPDATE rows SET result = 'applied', after = before, before = after, quantity = before`);
  expect(planned(await petstock(`undo ${run} --dry-run --json`, 0))).toHaveLength(rows);
});

test('writes a run of 100,000 rows in less than 240 MiB of resident memory', async () => {
  const { env, home, file } = await opened();
  const peak = join(home.folder, 'peak');
  const noting = `process.on('exit',()=>process.getBuiltinModule('fs').writeFileSync('${peak}',''+process.resourceUsage().maxRSS))`;
  const options = `--import=data:text/javascript,${encodeURIComponent(noting)}`;
  const applied = await runProgram(`inventory apply ${file} --yes --json`, {
    home,
    env: { ...env, NODE_OPTIONS: options },
  });
  expect(reportOf(applied).counts).toMatchObject({ applied: rows });
  expect(Number(readFileSync(peak, 'utf8')) / 1024).toBeLessThan(240);
});

/** Starts a service with many pets, and writes a file that adds 1 to the stock of each. */
async function opened(faults: readonly string[] = []) {
  const { env } = await serve({ pets: rows, limits: { minute: 1e7, day: 1e8 }, faults });
  const home = temporaryHome();
  const { stdout } = await runProgram('inventory list -o tsv', { home, env });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(rows);
  const file = join(home.folder, 'changes.csv');
  const changed = lines.map((line) => line.split('\t')).map(([petId, quantity]) => `${petId},${Number(quantity) + 1}`);
  writeFileSync(file, `petId,quantity\n${changed.join('\n')}\n`);
  return { env, home, file };
}
