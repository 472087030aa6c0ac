import { heading, roundsText } from '../support/heading.ts';
import { versionOf } from '../support/machine.ts';
import { atMost, faultsOf, goalOf, megabytes, type Report, seconds, times, verdict, whole } from '../support/report.ts';
import type { Results } from '../support/rounds.ts';
import { markdownTable } from '../support/table.ts';
import { names } from './contestants.ts';

/** What was measured of so many changes. */
export interface Found {
  readonly changes: number;
  readonly results: Results;
}

export async function reportOf(args: readonly string[], found: readonly Found[]): Promise<Report> {
  const [first] = found;
  if (first === undefined) throw new Error('nothing was measured');
  const tables = found.flatMap(({ changes, results }) => [
    `${changes.toLocaleString('en')} changes, no limit in the way, ${roundsText(results)}:\n`,
    tableOf(changes, results),
  ]);
  const of = (changes: number) => found.find((one) => one.changes === changes)?.results;
  const text = [heading('patch', args, [await versionOf('curl')], first.results), ...tables].join('\n');
  return { text, goals: [...speedGoal(of(10_000)), ...sizeGoal(of(100_000))] };
}

function tableOf(changes: number, results: Results): string {
  const curl = results.get(names.curl);
  const rows = results.all.map((result) => [
    result.name,
    seconds(result.median('ms')),
    times(result.ratioTo(curl)),
    whole((changes / result.median('ms')) * 1000),
    seconds(result.median('cpuMs')),
    whole(result.median('peakMb')),
    verdict(result),
  ]);
  return markdownTable([['', 's', 'of curl -Z', 'changes/s', 'CPU s', 'peak MB', 'all written'], ...rows]);
}

function speedGoal(results: Results | undefined): Report['goals'] {
  if (results === undefined) return [];
  const ours = results.get(names.ours);
  return [
    goalOf('10,000 PATCHes, no limit, through `inventory apply`', 'at most 1.5 x `curl -Z` with the history written', [
      [atMost(ours?.ratioTo(results.get(names.curl)) ?? Number.NaN, 1.5), '`curl -Z`'],
      ...faultsOf([ours]),
    ]),
  ];
}

function sizeGoal(results: Results | undefined): Report['goals'] {
  if (results === undefined) return [];
  const [ours, undone, resumed, pool] = [names.ours, names.undo, names.resume, names.pool].map((name) =>
    results.get(name),
  );
  const cpu = (ours?.median('cpuMs') ?? Number.NaN) - (pool?.median('cpuMs') ?? Number.NaN);
  const micros = Math.round((cpu * 1000) / 100_000);
  return [
    goalOf('`apply`, `undo`, `--resume` of 100,000', "at most 200 MB; 100 us a row of CPU beyond undici's own", [
      [megabytes(ours?.median('peakMb') ?? Number.NaN, 200), '`apply`'],
      [megabytes(undone?.median('peakMb') ?? Number.NaN, 200), '`undo`'],
      [megabytes(resumed?.median('peakMb') ?? Number.NaN, 200), '`--resume`'],
      [{ text: `${micros} us`, isReached: Number.isNaN(micros) ? undefined : micros <= 100 }, 'a row'],
      ...faultsOf([ours, undone, resumed]),
    ]),
  ];
}
