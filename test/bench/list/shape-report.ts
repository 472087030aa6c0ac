import { thisNode } from '../support/nodes.ts';
import { atLeast, atMost, faultsOf, type Goal, goalOf, seconds, times, verdict, whole } from '../support/report.ts';
import { markdownTable } from '../support/table.ts';
import { names } from './contestants.ts';
import type { Shaped } from './main.ts';

/** Of each shape: how long a byte takes, to one of the compact list. */
const perByte = ({ results, size }: Shaped, of: 'ms' | 'cpuMs') =>
  (results.get(names.shaped)?.ratioTo(results.get(names.compact), of) ?? Number.NaN) / size;

const fasterThanFetch = ({ results }: Shaped, of: 'ms' | 'cpuMs' = 'ms') =>
  results.get(names.fetch)?.ratioTo(results.get(names.shaped), of) ?? Number.NaN;

/** Markdown. */
export function shapeTable(shapes: readonly Shaped[]): string {
  const head = [
    '',
    'bytes',
    'curl s',
    's',
    'CPU s',
    'a byte',
    'a byte, CPU',
    'fetch s',
    'fetch of ours',
    'CPU',
    'peak MB',
    'exact',
  ];
  const rows = shapes.map((shaped) => {
    const { shape, version, results, size } = shaped;
    const median = (name: string, of: 'ms' | 'cpuMs') => seconds(results.get(name)?.median(of) ?? Number.NaN);
    const ours = results.get(names.shaped);
    return [
      version === thisNode.version ? shape.name : `${shape.name}, Node ${version}`,
      times(size),
      median(names.curl, 'ms'),
      median(names.shaped, 'ms'),
      median(names.shaped, 'cpuMs'),
      times(perByte(shaped, 'ms')),
      times(perByte(shaped, 'cpuMs')),
      median(names.fetch, 'ms'),
      times(fasterThanFetch(shaped)),
      times(fasterThanFetch(shaped, 'cpuMs')),
      whole(ours?.median('peakMb') ?? Number.NaN),
      ours === undefined ? '' : verdict(ours),
    ];
  });
  return markdownTable([head, ...rows]);
}

/** `3 to 5 rounds; fetch in 1 to 2` */
export function shapeRounds(shapes: readonly Shaped[]): string {
  const range = (name: string) => {
    const rounds = shapes.map(({ results }) => results.get(name)?.samples.length ?? 0);
    const [least, most] = [Math.min(...rounds), Math.max(...rounds)];
    return least === most ? `${most}` : `${least} to ${most}`;
  };
  return `${range(names.shaped)} rounds; fetch in ${range(names.fetch)}`;
}

export function shapesGoal(shapes: readonly Shaped[]): Goal {
  const faults = faultsOf(shapes.map(({ results }) => results.get(names.shaped)));
  return goalOf(
    'list 1,000,000 in any legal spelling',
    'a byte at most 2 x one of the compact list, and always 2.5 x faster than fetch + JSON.parse',
    [
      [atMost(Math.max(...shapes.map((shaped) => perByte(shaped, 'ms'))), 2), 'a byte of the slowest'],
      [atMost(Math.max(...shapes.map((shaped) => perByte(shaped, 'cpuMs'))), 2), 'in CPU'],
      [atLeast(Math.min(...shapes.map((shaped) => fasterThanFetch(shaped))), 2.5), 'faster than fetch, the least'],
      ...faults,
    ],
  );
}
