import { heading } from '../support/heading.ts';
import {
  atMost,
  faultsOf,
  goalOf,
  type Judged,
  megabytes,
  type Report,
  times,
  verdict,
  whole,
} from '../support/report.ts';
import type { Results } from '../support/rounds.ts';
import { markdownTable } from '../support/table.ts';
import { names } from './contestants.ts';

/** What was measured with one version of Node. */
export interface Found {
  readonly version: string;
  readonly results: Results;
}

/** @param found one or more */
export function reportOf(args: readonly string[], found: readonly Found[]): Report {
  const [first] = found;
  if (first === undefined) throw new Error('nothing was measured');
  const tables = found.map(({ version, results }) => `Node ${version}:\n\n${tableOf(results)}`);
  return { text: [heading('start', args, [], first.results), ...tables].join('\n'), goals: goalsOf(found) };
}

function tableOf(results: Results): string {
  const base = results.get(names.node);
  const rows = results.all.map((result) => [
    result.name,
    result.median('ms').toFixed(1),
    times(result.ratioTo(base)),
    result.median('cpuMs').toFixed(1),
    times(result.ratioTo(base, 'cpuMs')),
    whole(result.median('peakMb')),
    verdict(result),
  ]);
  return markdownTable([['', 'ms', 'of node -e 0', 'CPU ms', 'of node -e 0, CPU', 'peak MB', 'right'], ...rows]);
}

/** By processor time, which a busy machine changes less. The worst of all Nodes counts. */
function goalsOf(found: readonly Found[]): Report['goals'] {
  const ratio = (name: string) =>
    found.map(({ version, results }): readonly [Judged, string] => [
      atMost(results.get(name)?.ratioTo(results.get(names.node), 'cpuMs') ?? Number.NaN, most[name] ?? 1),
      `${name.replace('petstock ', '')} on ${version.replace(/\..*/, '')}`,
    ]);
  const faults = (...of: readonly string[]) =>
    faultsOf(found.flatMap(({ results }) => of.map((name) => results.get(name))));
  const own = found[0]?.results;
  const peak = Math.max(...found.map(({ results }) => results.get(names.list)?.median('peakMb') ?? Number.NaN));
  const goal = (what: string, ...of: readonly (keyof typeof most)[]) =>
    goalOf(what, `at most ${most[of[0] ?? '']} x \`node -e 0\`, CPU`, [...of.flatMap(ratio), ...faults(...of)]);
  return [
    goal('`--version`', names.version),
    goal('`--help` of any command', names.help, names.verbHelp),
    goal('`config list`', names.configList),
    goal('one-request command (`inventory list`, 24 pets)', names.list),
    goalOf('memory of that', 'at most 60 MB', [[megabytes(peak, 60), '']]),
    goal('`inventory set`', names.set),
    goalOf('the same by the executable', 'at most 1.6 x `node -e 0`, CPU', [
      [atMost(own?.get(names.executableList)?.ratioTo(own.get(names.node), 'cpuMs') ?? Number.NaN, 1.6), ''],
      ...faults(names.executableVersion, names.executableList),
    ]),
  ];
}

const most: Readonly<Record<string, number>> = {
  [names.version]: 1.1,
  [names.help]: 1.6,
  [names.verbHelp]: 1.6,
  [names.configList]: 1.8,
  [names.list]: 3,
  [names.set]: 3.2,
};
