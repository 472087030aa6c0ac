import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Served, serve } from '../governor/served.ts';
import { buildProject } from '../support/build.ts';
import { temporaryFolder } from '../support/folders.ts';
import { heading } from '../support/heading.ts';
import { type Measurer, startMeasurer } from '../support/measure.ts';
import { progress } from '../support/progress.ts';
import { faultsOf, goalOf, type Judged, type Report, times, whole } from '../support/report.ts';
import { type Contestant, type Results, runRounds } from '../support/rounds.ts';
import { markdownTable, median } from '../support/table.ts';
import { generateHistory } from './generate.ts';

const few = 10;
/** As many runs are listed of either history. */
const commands = ['history list --limit 10', 'history show', 'undo --dry-run'] as const;
type CommandName = (typeof commands)[number];

/**
 * `npm run bench -- long-history [--quick] [--runs 15] [--length 10000]`: what a look at the history, and an undo, cost in a long
 * history beside a short one.
 */
export async function run(args: readonly string[]): Promise<Report> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false }, runs: text, length: text },
  });
  const rounds = Number(values.runs ?? (values.quick ? 5 : 15));
  const many = Number(values.length ?? 10_000);
  const { program, remove: removeBuild } = await buildProject();
  const { path: folder, remove } = temporaryFolder();
  const measurer = await startMeasurer();
  const served = await serve({ program, limit: 1_000_000, windowMs: 60_000, pets: 24 });
  try {
    const scene = { measurer, program, served, folder };
    const contestants = [...(await contestantsOf(scene, few)), ...(await contestantsOf(scene, many))];
    return reportOf(args, many, await runRounds(contestants, rounds));
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

function reportOf(args: readonly string[], many: number, results: Results): Report {
  const found = commands.map((command) => {
    const [short, long] = [results.get(nameOf(command, few)), results.get(nameOf(command, many))];
    const pairs = (long?.samples ?? []).map(({ cpuMs }, round) => cpuMs / (short?.samples[round]?.cpuMs ?? Number.NaN));
    return { command, short, long, ratio: median(pairs) };
  });
  const rows = found.map(({ command, short, long, ratio }) => [
    command,
    whole(short?.median('cpuMs') ?? Number.NaN),
    whole(long?.median('cpuMs') ?? Number.NaN),
    times(ratio),
    whole(long?.median('peakMb') ?? Number.NaN),
  ]);
  const head = ['', `CPU ms, ${few} runs`, `CPU ms, ${many} runs`, 'ratio', 'peak MB'];
  const judge = (ratio: number): Judged => ({ text: times(ratio), isReached: ratio <= 1.5 });
  const goals = found.map(({ command, short, long, ratio }) =>
    goalOf(`${command} of ${many} runs`, 'at most 1.5 x the CPU of 10 runs', [
      [judge(ratio), ''],
      ...faultsOf([short, long]),
    ]),
  );
  return { text: `${heading('long-history', args, [], results)}\n${markdownTable([head, ...rows])}`, goals };
}
