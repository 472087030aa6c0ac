import {
  type Expected,
  everything,
  everythingForeign,
  fields,
  filtered,
  first,
  leastQuantity,
  rowIn,
  sorted,
  summary,
} from './list/expected.ts';
import { serveLists } from './list/serve.ts';
import { compact, nested, type Shape, shapesOf } from './list/shapes.ts';
import { openWorkshop, type Workshop } from './support/builds.ts';
import { type Command, checked, requireRows } from './support/measure.ts';
import * as report from './support/report.ts';
import { type Contestant, type Result, type Results, runRounds } from './support/rounds.ts';
import { settingsFor } from './support/served.ts';
import { table } from './support/table.ts';

const names = {
  curl: 'curl to /dev/null',
  tsv: 'petstock, tsv',
  /** What a list costs however long it is: most of it is the start. */
  start: 'petstock, tsv, the first pet',
  /** The compact list, beside one in another shape. */
  compact: 'petstock, tsv, compact',
  filtered: 'petstock, tsv, two filters',
  sorted: 'petstock, tsv, sorted',
  summary: 'petstock, tsv, summary',
  jq: 'curl, jq @tsv',
  fetch: 'fetch, JSON.parse, join',
} as const;

/** Ours beside the plain TSV, by name: the arguments after `inventory list`, and the rows that should come out. */
const formats: Readonly<Record<string, readonly [string, Expected]>> = {
  'petstock, csv': ['-o csv', everything],
  'petstock, ndjson': ['-o ndjson', everything],
  'petstock, json': ['-o json', everything],
  'petstock, long table': ['-o table', everything],
  [names.filtered]: [`-o tsv --status available --min-quantity ${leastQuantity}`, filtered],
  'petstock, tsv, two fields': ['-o tsv --fields quantity,petId', fields],
};
const reduced: typeof formats = {
  [names.sorted]: ['-o tsv --sort quantity', sorted],
  [names.summary]: ['-o tsv --summary', summary],
  [names.start]: ['-o tsv --limit 1', first],
};

/** MB a second of the line that is no loopback. */
const line = 50;
const key = 'psk_bench';

/** What was measured of one list. */
interface Found {
  readonly shape: Shape;
  readonly results: Results;
  /** How many bytes it has, to those of the compact list. */
  readonly size: number;
}

/**
 * The list of a million pets (`--pets`) beside curl, jq and fetch; over a slower line; in every other spelling, one of them drawn
 * (`--seed`); and of five million. `--quick` takes about two minutes on a machine that is idle: it leaves out the last, jq, and all
 * but a quarter of the spellings, others with another seed.
 */
export async function run({ isQuick, rounds = isQuick ? 2 : 5, ...options }: report.Options): Promise<report.Report> {
  const { pets = 1_000_000, seed = Date.now() % 1_000_000 } = options;
  const scene = { ...(await openWorkshop()), seed };
  const few = Math.min(3, rounds);
  const tsv = { rounds: few, makers: [curl, petstock(names.tsv)] };
  const ours = Object.entries({ ...formats, ...reduced }).map(([name, [args, rows]]) => petstock(name, args, rows));
  const makers = [...tsv.makers, ...ours, ...(isQuick ? [] : [jq]), fetchScript];
  const loopback = await measureList(scene, { pets, rounds, makers });
  const throttled = await measureList(scene, { ...tsv, pets, megabytesPerSecond: line });
  const shapes: Found[] = [];
  const spellings = shapesOf(seed).filter((_, index) => !isQuick || index % 4 === seed % 4);
  for (const shape of spellings) {
    const rows = shape.stock === undefined ? everything : everythingForeign;
    const makers = [curl, compactOne, petstock(names.tsv, '-o tsv', rows), fetchScript];
    shapes.push(await measureList(scene, { pets, rounds: few, shape, makers }));
  }
  const large = isQuick ? undefined : { ...tsv, pets: 5 * pets };
  const many = large && (await measureList(scene, large));
  const manyNested = large && (await measureList(scene, { ...large, shape: nested }));
  const section = (title: string, found: Found | undefined) =>
    found === undefined ? '' : report.resultTable(title, found.results, [names.curl, names.tsv]);
  const text = [
    section(`${pets} pets, loopback`, loopback),
    section(`${pets} pets over a line of ${line} MB/s`, throttled),
    `${pets} pets in other spellings, each in turn with the compact one, in ${few} rounds:\n\n${shapeTable(shapes)}\n`,
    section(`${5 * pets} pets, loopback`, many),
    section(`${5 * pets} pets, nested`, manyNested),
  ];
  const measured = { loopback, throttled, shapes, many, manyNested };
  // They are about so many pets, and no others.
  return { text: text.join('\n'), goals: pets === 1_000_000 ? goalsOf(measured) : [] };
}

interface Scene extends Workshop {
  readonly seed: number;
}

interface List {
  readonly pets: number;
  readonly rounds: number;
  readonly makers: readonly Maker[];
  readonly megabytesPerSecond?: number;
  /** The compact one without it. */
  readonly shape?: Shape;
}

type Maker = (scene: Scene & { readonly pets: number; readonly urls: readonly string[] }) => Contestant;

async function measureList(scene: Scene, { pets, rounds, makers, megabytesPerSecond, shape }: List): Promise<Found> {
  const shapes = [...(shape === undefined ? [] : [shape.name]), compact.name];
  const { urls, bytes, stop } = await serveLists({ pets, megabytesPerSecond, shapes, seed: scene.seed });
  const results = await runRounds(
    makers.map((make) => make({ ...scene, pets, urls })),
    rounds,
  );
  await stop();
  return { shape: shape ?? compact, results, size: (bytes[0] ?? 0) / (bytes.at(-1) ?? 0) };
}

const curl: Maker = ({ measure, urls: [url] }) => {
  const argv = ['curl', '-sf', '-o', '/dev/null', '-H', `Authorization: Bearer ${key}`, `${url}/inventory`];
  return { name: names.curl, attempt: () => measure({ argv }, { stdout: '/dev/null', seconds: 180 }) };
};

function petstock(name: string, args = '-o tsv', expected = everything): Maker {
  return (scene) => {
    const env = settingsFor({ url: scene.urls[0] ?? '', key }, scene.folder);
    const argv = [process.execPath, scene.program, 'inventory', 'list', ...args.split(' ')];
    return listing(scene, name, { argv, env }, expected);
  };
}

/** The compact list, beside one in another shape. What it prints is looked at where it is measured in all formats. */
const compactOne: Maker = (scene) => {
  const { name, attempt } = petstock(names.compact)({ ...scene, urls: scene.urls.slice(1) });
  return { name, attempt: () => attempt(false) };
};

const jq: Maker = (scene) => {
  const filter = '.[] | [.petId, .quantity, .status] | @tsv';
  const pipeline = `curl -sf -H "Authorization: Bearer $KEY" "$URL/inventory" | jq -r '${filter}'`;
  return other(scene, names.jq, ['sh', '-c', pipeline]);
};

/** What most scripts do: fetch, JSON.parse, one text. */
const fetchScript: Maker = (scene) => {
  const script = `const headers = { authorization: 'Bearer ' + process.env.KEY };
const items = await (await fetch(process.env.URL + '/inventory', { headers })).json();
const lines = items.map(({ petId, quantity, status }) => petId + '\\t' + quantity + '\\t' + status);
process.stdout.write(lines.join('\\n') + '\\n');`;
  return other(scene, names.fetch, [process.execPath, '--input-type=module', '-e', script]);
};

function other(scene: Parameters<Maker>[0], name: string, argv: readonly string[]): Contestant {
  return listing(scene, name, { argv, env: { URL: scene.urls[0] ?? '', KEY: key } }, everything);
}

function listing({ measure, pets }: Parameters<Maker>[0], name: string, command: Command, rows: Expected): Contestant {
  return checked(measure, name, command, 180, (file) => requireRows(file, rows(pets), rowIn));
}

/** How long a byte of a shape takes, to one of the compact list. */
const perByte = ({ results, size }: Found, of: 'ms' | 'cpuMs') => ratio(results, names.tsv, names.compact, of) / size;

/** CPU of the list but for what the first pet takes, to all that curl takes. */
const withoutStart = ({ results }: Found) =>
  ratio(results, names.tsv, names.curl, 'cpuMs') - ratio(results, names.start, names.curl, 'cpuMs');

const fasterThanFetch = ({ results }: Found) => ratio(results, names.fetch, names.tsv);

function ratio(results: Results | undefined, name: string, to: string, of: 'ms' | 'cpuMs' = 'ms'): number {
  return results?.get(name)?.ratioTo(results.get(to), of) ?? Number.NaN;
}

function shapeTable(shapes: readonly Found[]): string {
  const rows = shapes.map((found) => {
    const ours = found.results.get(names.tsv);
    const seconds = (result: Result | undefined) => ((result?.median('ms') ?? Number.NaN) / 1000).toFixed(2);
    return [
      found.shape.name,
      report.times(found.size),
      seconds(found.results.get(names.curl)),
      seconds(ours),
      report.times(perByte(found, 'ms')),
      report.times(perByte(found, 'cpuMs')),
      report.times(fasterThanFetch(found)),
      report.whole(ours?.median('peakMb') ?? Number.NaN),
      ours?.fault ?? 'yes',
    ];
  });
  return table([['', 'bytes', 'curl s', 's', 'a byte', 'a byte, CPU', 'fetch of ours', 'peak MB', 'right'], ...rows]);
}

interface Measured {
  readonly loopback: Found;
  readonly throttled: Found;
  readonly shapes: readonly Found[];
  readonly many: Found | undefined;
  readonly manyNested: Found | undefined;
}

function goalsOf({ loopback, throttled, shapes, many, manyNested }: Measured): report.Goal[] {
  const { atLeast, atMost, faultsOf, goalOf, megabytes } = report;
  const ours = (found: Found | undefined) => found?.results.get(names.tsv);
  const memory = (found: Found | undefined) => ours(found)?.median('peakMb') ?? Number.NaN;
  const toTsv = (name: string) => ratio(loopback.results, name, names.tsv);
  // Without one, items are copied as they stand.
  const toFiltered = (name: string) => ratio(loopback.results, name, names.filtered);
  const faults = (of: readonly string[]) => faultsOf(of.map((name) => loopback.results.get(name)));
  const five = goalOf(
    'list 5,000,000, compact and nested',
    'at most 110 MB, and within 10 % of the memory at 1,000,000',
    [
      [megabytes(memory(many), 110), ''],
      [atMost(memory(many) / memory(loopback), 1.1), 'the memory at 1,000,000'],
      [megabytes(memory(manyNested), 110), 'nested'],
      [
        atMost(memory(manyNested) / memory(shapes.find(({ shape }) => shape.name === nested.name)), 1.1),
        'the memory at 1,000,000',
      ],
      ...faultsOf([ours(many), ours(manyNested)]),
    ],
  );
  return [
    goalOf(
      'list 1,000,000 in any legal spelling',
      'a byte at most 2 x one of the compact list, and always 2.5 x faster than fetch + JSON.parse',
      [
        [atMost(Math.max(...shapes.map((found) => perByte(found, 'ms'))), 2), 'a byte of the slowest'],
        [atMost(Math.max(...shapes.map((found) => perByte(found, 'cpuMs'))), 2), 'in CPU'],
        [atLeast(Math.min(...shapes.map(fasterThanFetch)), 2.5), 'faster than fetch, the least'],
        ...faultsOf(shapes.map(ours)),
      ],
    ),
    goalOf(
      'list 1,000,000 as TSV, compact',
      'at most 10 x curl to /dev/null; 4 x faster than fetch + JSON.parse; at 50 MB/s at most 1.15 x curl',
      [
        [atMost(ratio(loopback.results, names.tsv, names.curl), 10), 'curl'],
        [atMost(ratio(loopback.results, names.tsv, names.curl, 'cpuMs'), 10), 'in CPU'],
        [atMost(withoutStart(loopback), 10), 'in CPU without our start'],
        [atLeast(toTsv(names.fetch), 4), 'faster than fetch'],
        [atMost(ratio(throttled.results, names.tsv, names.curl), 1.15), 'curl at 50 MB/s'],
        ...faultsOf([ours(loopback), ours(throttled)]),
      ],
    ),
    ...(many === undefined ? [] : [five]),
    goalOf('any filter, any of ndjson, csv, tsv, json; long table', 'at most 1.5 x our own TSV with a filter', [
      [atMost(Math.max(...Object.keys(formats).map(toFiltered)), 1.5), 'the slowest of them'],
      ...faults(Object.keys(formats)),
    ]),
    goalOf('`--sort`, `--summary` of 1,000,000', 'sort at most 4 x our own TSV; summary at most 1.1 x', [
      [atMost(toTsv(names.sorted), 4), 'sorted'],
      [atMost(toTsv(names.summary), 1.1), 'summary'],
      ...faults(Object.keys(reduced)),
    ]),
  ];
}
