import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { type Build, buildProject } from '../support/build.ts';
import { startNode, stop } from '../support/children.ts';
import { temporaryFolder } from '../support/folders.ts';
import { type Measurer, startMeasurer } from '../support/measure.ts';
import { installNodes, otherLines, type Runtime, thisNode } from '../support/nodes.ts';
import type { Report } from '../support/report.ts';
import { type Contestant, type Results, runRounds } from '../support/rounds.ts';
import * as contestants from './contestants.ts';
import { reportOf } from './report.ts';
import type { ServerOptions } from './server.ts';
import { compact, nested, type Shape, shapesOf } from './shapes.ts';

type Maker = (scene: contestants.Scene) => Contestant;

const ours =
  (name: string): Maker =>
  (scene) =>
    contestants.petstock(scene, name);
const tsv = ours(contestants.names.tsv);
const { curl } = contestants;
const peers: readonly Maker[] = [contestants.jq, contestants.fetchScript, contestants.python];

/** MB a second of the line that is no loopback. */
const line = 50;

/** No round of a list is begun after so many seconds of rounds: what is slow is measured less often, and not left out. */
const mostSeconds = { formats: 45, shape: 10 };
/** How often the slow ones are measured, of which nothing is to be found out but how slow they are. */
const fewRounds = { fetch: 2, otherNodes: 1, large: 1 };

interface ListOptions {
  readonly pets: number;
  readonly rounds: number;
  readonly seconds?: number;
  readonly megabytesPerSecond?: number;
  /** The compact one without it. */
  readonly shape?: Shape;
}

/** What was measured of one list. */
export interface Shaped {
  readonly shape: Shape;
  /** The version of Node that it was read with. */
  readonly version: string;
  readonly results: Results;
  /** How many bytes it has, to those of the compact list. */
  readonly size: number;
}

/**
 * `npm run bench -- list [--quick] [--runs 5] [--pets 1000000] [--large 5000000] [--seed 1] [--shapes]
 * [--nodes 20,22,24]`: the list of a million pets beside curl, jq, fetch and Python; over a slower line; in every other
 * spelling, one of them drawn by the seed, and some of them on other Nodes; and of five million. --quick leaves out the last
 * two, --shapes measures nothing but the spellings. Takes less than 8 minutes: no more rounds than there is time for.
 */
export async function run(args: readonly string[]): Promise<Report> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { quick: flag, shapes: flag, runs: text, pets: text, large: text, seed: text, nodes: text };
  const { values } = parseArgs({ args: [...args], options });
  const pets = Number(values.pets ?? 1_000_000);
  const large = Number(values.large ?? (values.quick ? 0 : 5_000_000));
  const rounds = Number(values.runs ?? (values.quick ? 3 : 5));
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const lines = values.quick && values.nodes === undefined ? [] : otherLines(values.nodes);
  const { runtimes, folder: nodes } = await installNodes(lines);
  const build = await buildProject({ server: 'test/bench/list/server.ts' });
  const measurer = await startMeasurer();
  const { path: folder, remove } = temporaryFolder();
  const tools: Tools = { build, measurer, folder, seed };
  const measured = async (makers: readonly Maker[], options: ListOptions): Promise<Results | undefined> =>
    values.shapes || options.pets === 0 ? undefined : (await measure(tools, makers, options)).results;
  try {
    const formats = { pets, rounds, seconds: mostSeconds.formats };
    const loopback = await measured([curl, ...contestants.ours.map(ours), ...peers], formats);
    const throttled = await measured([curl, tsv], { pets, rounds: Math.min(3, rounds), megabytesPerSecond: line });
    const shapes = await measureShapes(tools, runtimes, { pets, rounds });
    const few = Math.min(3, rounds);
    const slow = [contestants.jq, contestants.fetchScript].map((make) => contestants.inFew(fewRounds.large, make));
    const many = await measured([curl, tsv, ...slow], { pets: large, rounds: few });
    const manyNested = await measured([curl, contestants.shaped], { pets: large, rounds: few, shape: nested });
    const python = measurer.pythonVersion;
    return await reportOf({ pets, large, line, args, loopback, throttled, shapes, seed, many, manyNested, python });
  } finally {
    measurer.stop();
    remove();
    build.remove();
    nodes.remove();
  }
}

interface Tools {
  readonly build: Build;
  readonly measurer: Measurer;
  readonly folder: string;
  readonly seed: number;
}

async function measure(
  { build, measurer, folder, seed }: Tools,
  makers: readonly Maker[],
  { pets, rounds, seconds: most, shape = compact, megabytesPerSecond }: ListOptions,
): Promise<{ readonly results: Results; readonly size: number }> {
  const { node } = thisNode;
  const shapes = shape === compact ? [compact.name] : [shape.name, compact.name];
  const server = await startServer(build.entry('server'), { pets, megabytesPerSecond, shapes, seed });
  const [url = '', compactUrl = url] = server.urls;
  const [bytes = 0, compactBytes = bytes] = server.bytes;
  const isForeign = shape.isForeign ?? false;
  const shared = { measurer, node, program: build.program, url, compactUrl, isForeign, pets, folder, seconds: 180 };
  try {
    const all = makers.map((make) => make(shared));
    return { results: await runRounds(all, rounds, most), size: bytes / compactBytes };
  } finally {
    await server.stop();
  }
}

/** In each spelling, some of them on other Nodes too: in the same rounds, so that a list is made once. */
async function measureShapes(
  tools: Tools,
  runtimes: readonly Runtime[],
  options: Pick<ListOptions, 'pets' | 'rounds'>,
): Promise<readonly Shaped[]> {
  const [own, others]: [Shaped[], Shaped[]] = [[], []];
  const { fetchScript, inFew, nameOn, names, shaped } = contestants;
  for (const shape of shapesOf(tools.seed)) {
    // Those on which Nodes could differ: what is long, what is decoded, what is merged, and the one that is new each time.
    const readers = /^nested|^an escape|^chunks|^drawn/.test(shape.name) ? runtimes : [];
    const makers = [curl, contestants.compact, shaped, inFew(fewRounds.fetch, fetchScript)];
    for (const { node, version } of readers) {
      const all = [contestants.compact, shaped, inFew(fewRounds.otherNodes, fetchScript)];
      makers.push(
        ...all.map(
          (make): Maker =>
            (scene) =>
              make({ ...scene, node, version }),
        ),
      );
    }
    const found = await measure(tools, makers, { ...options, seconds: mostSeconds.shape, shape });
    const { size, results } = found;
    own.push({ shape, size, version: thisNode.version, results });
    for (const { version } of readers) {
      others.push({
        shape,
        size,
        version,
        results: results.renamed((name) => (name === names.curl ? name : nameOn(version, name))),
      });
    }
  }
  return [...own, ...others];
}

async function startServer(script: string, options: ServerOptions) {
  const child = startNode([script, JSON.stringify(options)]);
  if (child.stdout === null) throw new Error('the server has no stdout');
  child.stderr?.pipe(process.stderr);
  const [line] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(120_000) });
  const { urls, bytes } = JSON.parse(String(line)) as { urls: readonly string[]; bytes: readonly number[] };
  return { urls, bytes, stop: () => stop(child) };
}
