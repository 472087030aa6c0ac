import { heading } from '../support/heading.ts';
import { versionOf } from '../support/machine.ts';
import { atLeast, atMost, faultsOf, goalOf, type Report, seconds, times, verdict, whole } from '../support/report.ts';
import type { Results } from '../support/rounds.ts';
import { markdownTable } from '../support/table.ts';
import { names } from './contestants.ts';

export interface Found {
  readonly args: readonly string[];
  readonly changes: number;
  readonly results: Results;
}

export async function reportOf({ args, changes, results }: Found): Promise<Report> {
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
  const head = ['', 's', 'of curl -Z', 'changes/s', 'CPU s', 'peak MB', 'all written'];
  const title = `${changes.toLocaleString('en')} changes, no limit in the way:\n`;
  const text = [heading('patch', args, [await versionOf('curl')], results), title, markdownTable([head, ...rows])];
  // They are about so many changes, and no others.
  return { text: text.join('\n'), goals: changes === 10_000 ? goalsOf(results) : [] };
}

function goalsOf(results: Results): Report['goals'] {
  const ours = results.get(names.ours);
  const ofCurl = ours?.ratioTo(results.get(names.curl)) ?? Number.NaN;
  const fetches = [names.fetch8, names.fetch32].map((name) => 1 / (ours?.ratioTo(results.get(name)) ?? Number.NaN));
  return [
    goalOf(
      '10,000 PATCHes, no limit, through `inventory apply`',
      'at most 2 x `curl -Z` with the history written, 3 x faster than fetch',
      [
        [atMost(ofCurl, 2), '`curl -Z`'],
        [atLeast(Math.min(...fetches), 3), 'faster than the faster fetch'],
        ...faultsOf([ours]),
      ],
    ),
  ];
}
