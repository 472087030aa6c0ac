import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Served, serve } from '../governor/served.ts';
import { buildProject } from '../support/build.ts';
import { temporaryFolder } from '../support/folders.ts';
import { heading } from '../support/heading.ts';
import { type Measurer, startMeasurer } from '../support/measure.ts';
import { progress } from '../support/progress.ts';
import { atMost, faultsOf, goalOf, type Report, times, whole } from '../support/report.ts';
import { type Contestant, type Results, runRounds } from '../support/rounds.ts';
import { markdownTable } from '../support/table.ts';
import { generateHistory } from './generate.ts';

/** As many runs are listed of each history. */
const commands = ['history list --limit 10', 'history show', 'undo --dry-run'] as const;
type CommandName = (typeof commands)[number];

/**
 * `npm run bench -- history [--quick] [--runs 15] [--lengths 10,1000,10000]`: what a look at the history, and an undo, cost
 * in a long history beside a short one. `--quick` leaves out the longest.
 */
export async function run(args: readonly string[]): Promise<Report> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false }, runs: text, lengths: text },
  });
  const rounds = Number(values.runs ?? (values.quick ? 5 : 15));
  const lengths = (values.lengths ?? (values.quick ? '10,1000' : '10,1000,10000')).split(',').map(Number);
  const { program, remove: removeBuild } = await buildProject();
  const { path: folder, remove } = temporaryFolder();
  const measurer = await startMeasurer();
  const served = await serve({ program, limit: 1_000_000, windowMs: 60_000, pets: 24 });
  try {
    const contestants: Contestant[] = [];
    for (const runs of lengths) contestants.push(...(await contestantsOf({ measurer, program, served, folder }, runs)));
    return reportOf(args, lengths, await runRounds(contestants, rounds));
  } finally {
    await served.stop();
    measurer.stop();
    remove();
    removeBuild();
  }
}

interface Scene {
  readonly measurer: Measurer;
  /** The built program. */
  readonly program: string;
  readonly served: Served;
  readonly folder: string;
}

const nameOf = (command: CommandName, runs: number) => `${command}, ${runs} runs`;

async function contestantsOf(scene: Scene, runs: number): Promise<readonly Contestant[]> {
  const { measurer, program, served, folder } = scene;
  progress(`a history of ${runs} runs`);
  const state = join(folder, `${runs}`);
  const newest = await generateHistory({ folder: state, runs, baseUrl: served.url, stock: await served.stock() });
  const argvOf: Readonly<Record<CommandName, readonly string[]>> = {
    'history list --limit 10': ['history', 'list', '--limit', '10', '--json'],
    'history show': ['history', 'show', newest, '--json'],
    'undo --dry-run': ['undo', newest, '--dry-run', '--json'],
  };
  const env = {
    PETSTOCK_STATE_DIR: state,
    PETSTOCK_CONFIG_DIR: join(folder, 'config'),
    PETSTOCK_URL_STAGING: served.url,
    PETSTOCK_API_KEY_STAGING: served.key,
  };
  return commands.map((command) => {
    const argv = [process.execPath, program, ...argvOf[command]];
    const stdout = join(folder, 'stdout');
    return { name: nameOf(command, runs), attempt: () => measurer.run({ argv, env }, { stdout, seconds: 60 }) };
  });
}

function reportOf(args: readonly string[], lengths: readonly number[], results: Results): Report {
  const [least = 10] = lengths;
  const most = lengths.at(-1) ?? least;
  const of = (command: CommandName, runs: number) => results.get(nameOf(command, runs));
  const ratio = (command: CommandName, runs: number) =>
    of(command, runs)?.ratioTo(of(command, least), 'cpuMs') ?? Number.NaN;
  const rows = commands.flatMap((command) =>
    lengths.map((runs) => [
      `${command}, ${runs.toLocaleString('en')} runs`,
      whole(of(command, runs)?.median('ms') ?? Number.NaN),
      whole(of(command, runs)?.median('cpuMs') ?? Number.NaN),
      times(ratio(command, runs)),
      whole(of(command, runs)?.median('peakMb') ?? Number.NaN),
    ]),
  );
  const head = ['', 'ms', 'CPU ms', `of ${least} runs, CPU`, 'peak MB'];
  const goal = goalOf(
    '`history list`, `history show`, `undo` with 10,000 runs',
    'at most 1.1 x those with 10, CPU',
    commands.flatMap((command) => [
      [atMost(ratio(command, most), 1.1), `\`${command}\``] as const,
      ...faultsOf(lengths.map((runs) => of(command, runs))),
    ]),
  );
  const text = `${heading('history', args, [], results)}\n${markdownTable([head, ...rows])}`;
  return { text, goals: most === 10_000 ? [goal] : [] };
}
