import { join } from 'node:path';
import { openWorkshop, type Workshop } from './support/builds.ts';
import { temporaryFolder } from './support/children.ts';
import { atMost, faultsOf, goalOf, type Options, type Report, resultTable } from './support/report.ts';
import { type Contestant, progress, Results, runRounds } from './support/rounds.ts';
import { type Served, serve, settingsFor } from './support/served.ts';
import { headOf, openBenchState } from './support/state.ts';

const commands = ['history list --limit 10', 'history show', 'undo --dry-run'] as const;

/** Measures reading the history and an undo with long histories and a short one. `--quick` leaves out the longest. */
export async function run({ isQuick, rounds = isQuick ? 5 : 15 }: Options): Promise<Report> {
  const lengths = isQuick ? [10, 1000] : [10, 1000, 10_000];
  const workshop = await openWorkshop();
  const served = await serve({ program: workshop.program, pets: 24 });
  const contestants: Contestant[] = [];
  for (const runs of lengths) contestants.push(...(await contestantsOf(workshop, served, runs)));
  const results = await runRounds(contestants, rounds);
  const [least = 10] = lengths;
  const goal = goalOf(
    '`history list`, `history show`, `undo` with 10,000 runs',
    'at most 1.1 x those with 10, CPU',
    commands.flatMap((command) => {
      const [few, many] = [nameOf(command, least), nameOf(command, 10_000)];
      return [atMost(results.ratio(many, few, 'cpuMs'), 1.1, `\`${command}\``), ...faultsOf(results, [few, many])];
    }),
  );
  const tables = commands.map((command) => {
    const own = [...results].filter(([name]) => name.startsWith(command));
    return resultTable(`\`${command}\``, new Results(own), [nameOf(command, least)], 'ms');
  });
  return { text: tables.join('\n'), goals: isQuick ? [] : [goal] };
}

const nameOf = (command: (typeof commands)[number], runs: number) => `${command}, ${runs} runs`;

async function contestantsOf({ measure, program }: Workshop, served: Served, runs: number): Promise<Contestant[]> {
  progress(`a history of ${runs} runs`);
  const folder = temporaryFolder();
  const env = settingsFor(served, folder);
  const newest = await generateHistory(env.PETSTOCK_STATE_DIR, runs, served);
  const argvOf = {
    'history list --limit 10': ['history', 'list', '--limit', '10'],
    'history show': ['history', 'show', newest],
    'undo --dry-run': ['undo', newest, '--dry-run'],
  };
  return commands.map((command) => {
    const argv = [process.execPath, program, ...argvOf[command], '--json'];
    return { name: nameOf(command, runs), attempt: () => measure({ argv, env }, join(folder, 'stdout')) };
  });
}

/**
 * Makes the history that this many runs of `inventory adjust` would leave, on the pets in turn. Returns the id of the
 * newest run.
 */
async function generateHistory(folder: string, runs: number, served: Served): Promise<string> {
  const state = await openBenchState(folder);
  const pets = [...(await served.stock())];
  let newest = '';
  for (let index = 0; index < runs; index += 1) {
    const [petId = '1', after = 0] = pets[index % pets.length] ?? [];
    const row = { row: 1, line: 1, petId: BigInt(petId), before: after - 1, after };
    newest = await state.record(headOf(served.url), [row]);
  }
  await state.close();
  return newest;
}
