import { parseArgs } from 'node:util';
import { serve } from '../governor/served.ts';
import { buildProject } from '../support/build.ts';
import { temporaryFolder } from '../support/folders.ts';
import { startMeasurer } from '../support/measure.ts';
import type { Report } from '../support/report.ts';
import { runRounds } from '../support/rounds.ts';
import { contestantsOf } from './contestants.ts';
import { reportOf } from './report.ts';

/**
 * `npm run bench -- patch [--quick] [--runs 7] [--changes 10000]`: changes of all pets through `inventory apply`, with the
 * history written, beside curl, fetch and undici. Against the embedded service with its limits out of the way: its day has a
 * million requests.
 */
export async function run(args: readonly string[]): Promise<Report> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false }, runs: text, changes: text },
  });
  const rounds = Number(values.runs ?? (values.quick ? 3 : 7));
  const changes = Number(values.changes ?? 10_000);
  const { program, remove: removeBuild } = await buildProject();
  const { path: folder, remove } = temporaryFolder();
  const measurer = await startMeasurer();
  try {
    const served = await serve({ program, limit: 1_000_000, windowMs: 60_000, pets: changes });
    try {
      const petIds = [...(await served.stock()).keys()];
      const results = await runRounds(contestantsOf({ measurer, program, served, petIds, folder }), rounds);
      return await reportOf({ args, changes, results });
    } finally {
      await served.stop();
    }
  } finally {
    measurer.stop();
    remove();
    removeBuild();
  }
}
