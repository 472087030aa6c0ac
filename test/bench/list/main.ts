import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { buildProject } from '../support/build.ts';
import { startNode, stop } from '../support/children.ts';
import { temporaryFolder } from '../support/folders.ts';
import { startMeasurer } from '../support/measure.ts';
import type { Report } from '../support/report.ts';
import { type Contestant, type Results, runRounds } from '../support/rounds.ts';
import * as contestants from './contestants.ts';
import { reportOf } from './report.ts';

type Maker = (scene: contestants.Scene) => Contestant;

const ours =
  (name: string): Maker =>
  (scene) =>
    contestants.petstock(scene, name);
const peers: readonly Maker[] = [contestants.jq, contestants.fetchScript, contestants.python];

/** MB a second of the line that is no loopback. */
const line = 50;

/**
 * `npm run bench -- list [--quick] [--runs 7] [--pets 1000000] [--large 5000000]`: the list of a million pets beside curl,
 * jq, fetch and Python; over a slower line; and of five million, which --quick leaves out.
 */
export async function run(args: readonly string[]): Promise<Report> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false }, runs: text, pets: text, large: text },
  });
  const pets = Number(values.pets ?? 1_000_000);
  const large = Number(values.large ?? (values.quick ? 0 : 5_000_000));
  const rounds = Number(values.runs ?? (values.quick ? 3 : 7));
  const build = await buildProject({ server: 'test/bench/list/server.ts' });
  const measurer = await startMeasurer();
  const { path: folder, remove } = temporaryFolder();
  const scene = async (count: number, makers: readonly Maker[], turns: number, speed?: number): Promise<Results> => {
    const server = await startServer(build.entry('server'), count, speed);
    const shared = { measurer, program: build.program, url: server.url, pets: count, folder, seconds: 180 };
    try {
      return await runRounds(
        makers.map((make) => make(shared)),
        turns,
      );
    } finally {
      await server.stop();
    }
  };
  try {
    const { curl } = contestants;
    const tsv = ours(contestants.names.tsv);
    const loopback = await scene(pets, [curl, ...contestants.ours.map(ours), ...peers], rounds);
    const throttled = await scene(pets, [curl, tsv], rounds, line);
    // The peers take half a minute each.
    const many =
      large > 0
        ? await scene(large, [curl, tsv, contestants.jq, contestants.fetchScript], Math.min(3, rounds))
        : undefined;
    return await reportOf({ pets, large, line, args, loopback, throttled, many, python: measurer.pythonVersion });
  } finally {
    measurer.stop();
    remove();
    build.remove();
  }
}

async function startServer(script: string, pets: number, megabytesPerSecond: number | undefined) {
  const child = startNode([
    script,
    String(pets),
    ...(megabytesPerSecond === undefined ? [] : [String(megabytesPerSecond)]),
  ]);
  if (child.stdout === null) throw new Error('the server has no stdout');
  child.stderr?.pipe(process.stderr);
  const [told] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) });
  const { url } = JSON.parse(String(told)) as { url: string };
  return { url, stop: () => stop(child) };
}
