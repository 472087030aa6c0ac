import { heading, roundsText } from '../support/heading.ts';
import { versionOf } from '../support/machine.ts';
import {
  atLeast,
  atMost,
  faultsOf,
  type Goal,
  goalOf,
  megabytes,
  type Report,
  seconds,
  times,
  verdict,
  whole,
} from '../support/report.ts';
import { Results } from '../support/rounds.ts';
import { markdownTable } from '../support/table.ts';
import { names, ours } from './contestants.ts';
import type { Shaped } from './main.ts';
import { shapeRounds, shapesGoal, shapeTable } from './shape-report.ts';
import { nested } from './shapes.ts';

export interface Found {
  readonly pets: number;
  readonly large: number;
  /** MB a second. */
  readonly line: number;
  readonly args: readonly string[];
  /** Undefined what was not measured. */
  readonly loopback: Results | undefined;
  readonly throttled: Results | undefined;
  readonly shapes: readonly Shaped[];
  /** What the last of the shapes was drawn with. */
  readonly seed: number;
  readonly many: Results | undefined;
  readonly manyNested: Results | undefined;
  /** Its version. */
  readonly python: string;
}

const mostMb = 110;

export async function reportOf(found: Found): Promise<Report> {
  const { pets, large, line, loopback, throttled, shapes, seed, many, manyNested } = found;
  const section = (title: string, results: Results | undefined) =>
    results === undefined ? [] : [`${title}, ${roundsText(results)}:\n`, tableOf(results)];
  const some = loopback ?? shapes[0]?.results ?? new Results([]);
  const versions = [await versionOf('curl'), await versionOf('jq'), `Python ${found.python}`];
  const text = [
    heading('list', found.args, versions, some),
    ...section(`${count(pets)} pets, loopback`, loopback),
    ...section(`${count(pets)} pets over a line of ${line} MB/s`, throttled),
    `${count(pets)} pets in other spellings, each in turn with the compact one, in ${shapeRounds(shapes)}; the last is drawn with the seed ${seed}:\n`,
    shapeTable(shapes),
    ...section(`${count(large)} pets, loopback`, many),
    ...section(`${count(large)} pets, nested`, manyNested),
  ];
  // They are about so many pets, and no others.
  return { text: text.join('\n'), goals: pets === 1_000_000 ? goalsOf(found) : [] };
}

function tableOf(results: Results): string {
  const [curl, tsv] = [results.get(names.curl), results.get(names.tsv) ?? results.get(names.shaped)];
  const head = ['', 's', 'of curl', 'of our TSV', 'CPU s', 'peak MB', 'exact'];
  const rows = results.all.map((result) => [
    result.name,
    seconds(result.median('ms')),
    times(result.ratioTo(curl)),
    times(result.ratioTo(tsv)),
    seconds(result.median('cpuMs')),
    whole(result.median('peakMb')),
    result.fault === undefined && (result === curl || !result.isChecked) ? '' : verdict(result),
  ]);
  return markdownTable([head, ...rows]);
}

function goalsOf({ loopback, throttled, shapes, many, manyNested }: Found): Goal[] {
  const ratio = (results: Results | undefined, name: string, to: string) => {
    const result = results?.get(name);
    return result?.ratioTo(results?.get(to)) ?? Number.NaN;
  };
  const toTsv = (name: string) => ratio(loopback, name, names.tsv);
  const memory = (results: Results | undefined, name: string = names.tsv) =>
    results?.get(name)?.median('peakMb') ?? Number.NaN;
  const nestedMemory = memory(shapes.find(({ shape }) => shape === nested)?.results, names.shaped);
  const [sorted = '', summary = ''] = ours.slice(-2);
  const others = ours.slice(1, -2);
  const slowest = Math.max(...others.map(toTsv));
  const faults = (...lists: readonly string[]) => faultsOf(lists.map((name) => loopback?.get(name)));
  return [
    shapesGoal(shapes),
    goalOf(
      'list 1,000,000 as TSV, compact',
      'at most 10 x curl to /dev/null; 4 x faster than fetch + JSON.parse; at 50 MB/s at most 1.15 x curl',
      [
        [atMost(ratio(loopback, names.tsv, names.curl), 10), 'curl'],
        [atLeast(toTsv(names.fetch), 4), 'faster than fetch'],
        [atMost(ratio(throttled, names.tsv, names.curl), 1.15), 'curl at 50 MB/s'],
        ...faults(names.tsv),
        ...faultsOf([throttled?.get(names.tsv)]),
      ],
    ),
    goalOf('list 5,000,000, compact and nested', 'at most 110 MB, and within 10 % of the memory at 1,000,000', [
      [megabytes(memory(many), mostMb), ''],
      [atMost(memory(many) / memory(loopback), 1.1), 'the memory at 1,000,000'],
      [megabytes(memory(manyNested, names.shaped), mostMb), 'nested'],
      [atMost(memory(manyNested, names.shaped) / nestedMemory, 1.1), 'the memory at 1,000,000'],
      ...faultsOf([many?.get(names.tsv), manyNested?.get(names.shaped)]),
    ]),
    goalOf('any filter, any of ndjson, csv, tsv, json; long table', 'at most 1.5 x our own TSV', [
      [atMost(slowest, 1.5), 'the slowest of them'],
      ...faults(...others),
    ]),
    goalOf('`--sort`, `--summary` of 1,000,000', 'sort at most 4 x our own TSV; summary at most 1.1 x', [
      [atMost(toTsv(sorted), 4), 'sorted'],
      [atMost(toTsv(summary), 1.1), 'summary'],
      ...faults(sorted, summary),
    ]),
  ];
}

const count = (value: number) => value.toLocaleString('en');
