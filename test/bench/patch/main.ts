import { parseArgs } from 'node:util';
import { serve } from '../governor/served.ts';
import { buildProject } from '../support/build.ts';
import { temporaryFolder } from '../support/folders.ts';
import { type Measurer, startMeasurer } from '../support/measure.ts';
import type { Report } from '../support/report.ts';
import { type Results, runRounds } from '../support/rounds.ts';
import { contestantsOf, inLarge } from './contestants.ts';
import { type Found, reportOf } from './report.ts';

/**
 * `npm run bench -- patch [--quick] [--runs 5] [--changes 10000,100000]`: changes of all pets through `inventory apply`, with
 * the history written, beside curl, fetch and undici. Against the embedded service with its limits out of the way. `--quick`
 * does 10,000 alone.
 */
export async function run(args: readonly string[]): Promise<Report> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false }, runs: text, changes: text },
  });
  const rounds = Number(values.runs ?? (values.quick ? 3 : 5));
  const sizes = (values.changes ?? (values.quick ? '10000' : '10000,100000')).split(',').map(Number);
  const { program, remove } = await buildProject();
  const measurer = await startMeasurer();
  try {
    const found: Found[] = [];
    for (const changes of sizes) {
      // A round of 100,000 takes as long as ten of the others.
      const some = changes > 10_000 ? Math.ceil(rounds / 3) : rounds;
      const results = await measure({ program, measurer, changes, rounds: some });
      found.push({ changes, results });
    }
    return await reportOf(args, found);
  } finally {
    measurer.stop();
    remove();
  }
}

interface Setting {
  readonly program: string;
  readonly measurer: Measurer;
  readonly changes: number;
  readonly rounds: number;
}

async function measure({ program, measurer, changes, rounds }: Setting): Promise<Results> {
  const { path: folder, remove } = temporaryFolder();
  const limits = { limit: 100_000_000, windowMs: 60_000 };
  const served = await serve({ program, ...limits, pets: changes });
  try {
    const petIds = [...(await served.stock()).keys()];
    const all = contestantsOf({ measurer, program, served, petIds, folder });
    return await runRounds(changes > 10_000 ? all.filter(({ name }) => inLarge.has(name)) : all, rounds);
  } finally {
    await served.stop();
    remove();
  }
}
