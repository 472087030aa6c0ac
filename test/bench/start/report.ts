import { heading } from '../support/heading.ts';
import { atMost, faultsOf, goalOf, megabytes, type Report, times, verdict, whole } from '../support/report.ts';
import type { Results } from '../support/rounds.ts';
import { markdownTable } from '../support/table.ts';
import { names } from './contestants.ts';

/** What was measured with one version of Node. */
export interface Found {
  readonly version: string;
  readonly results: Results;
}

/** @param found the first of them is what the goals are about */
export function reportOf(args: readonly string[], found: readonly Found[]): Report {
  const [first] = found;
  if (first === undefined) throw new Error('nothing was measured');
  const tables = found.map(({ version, results }) => `Node ${version}:\n\n${tableOf(results)}`);
  return { text: [heading('start', args, [], first.results), ...tables].join('\n'), goals: goalsOf(first.results) };
}

function tableOf(results: Results): string {
  const base = results.get(names.node);
  const rows = results.all.map((result) => [
    result.name,
    result.median('ms').toFixed(1),
    times(result.ratioTo(base)),
    result.median('cpuMs').toFixed(1),
    whole(result.median('peakMb')),
    verdict(result),
  ]);
  return markdownTable([['', 'ms', 'of node -e 0', 'CPU ms', 'peak MB', 'right'], ...rows]);
}

function goalsOf(results: Results): Report['goals'] {
  const base = results.get(names.node);
  const ratio = (name: string) => results.get(name)?.ratioTo(base) ?? Number.NaN;
  const list = results.get(names.list);
  return [
    goalOf('`--version`, `--help`', 'at most 1.25 x `node -e 0`', [
      [atMost(ratio(names.version), 1.25), '`--version`'],
      [atMost(ratio(names.help), 1.25), '`--help`'],
      ...faultsOf([results.get(names.version), results.get(names.help)]),
    ]),
    goalOf('one-request command (`inventory list`, 24 pets)', 'at most 2.5 x `node -e 0`, 65 MB; stretch 2.0 x', [
      [atMost(ratio(names.list), 2.5), ''],
      [megabytes(list?.median('peakMb') ?? Number.NaN, 65), ''],
      ...faultsOf([list]),
    ]),
  ];
}
