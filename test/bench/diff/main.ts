import { once } from 'node:events';
import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { buildProject } from '../support/build.ts';
import { startNode, stop } from '../support/children.ts';
import { temporaryFolder } from '../support/folders.ts';
import { type Measurer, startMeasurer } from '../support/measure.ts';
import { atMost, faultsOf, goalOf, megabytes, type Report, seconds, whole } from '../support/report.ts';
import { type Contestant, type Results, runRounds, WrongResult } from '../support/rounds.ts';
import { table } from '../support/table.ts';
import { jsonOf, linesOf, type Variant } from './lists.ts';

interface Scene {
  readonly measurer: Measurer;
  readonly program: string;
  readonly port: string;
  readonly folder: string;
  readonly pets: number;
}

const listing = 'the two lists, one after the other';

/**
 * `npm run bench -- diff [--quick] [--runs 5] [--pets 1000000]`: two lists of a million pets, of environments and of files, beside the time
 * that listing both takes. What comes out is counted, and its first and last ids are compared.
 */
export async function run(args: readonly string[]): Promise<Report> {
  const options = { quick: { type: 'boolean' }, runs: { type: 'string' }, pets: { type: 'string' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const pets = Number(values.pets ?? 1_000_000);
  const rounds = Number(values.runs ?? (values.quick ? 3 : 5));
  const build = await buildProject({ server: 'test/bench/diff/server.ts' });
  const measurer = await startMeasurer();
  const { path: folder, remove } = temporaryFolder();
  const server = startNode([build.entry('server'), String(pets)]);
  try {
    if (server.stdout === null) throw new Error('the server has no stdout');
    const [port] = await once(server.stdout, 'data', { signal: AbortSignal.timeout(120_000) });
    const scene = { measurer, program: build.program, port: String(port).trim(), folder, pets };
    for (const [name, variant] of [
      ['left', 'left'],
      ['right', 'tenth'],
    ] as const)
      writeFiles(scene, name, variant);
    return reportOf(await runRounds(contestants(scene), rounds), pets);
  } finally {
    await stop(server);
    measurer.stop();
    remove();
    build.remove();
  }
}

function writeFiles({ folder, pets }: Scene, name: string, variant: Variant): void {
  const lines = linesOf(pets, variant);
  const csv = lines.map(({ petId, quantity, status }) => `${petId},${quantity},${status}\n`).join('');
  writeFileSync(join(folder, `${name}.csv`), `petId,quantity,status\n${csv}`);
  writeFileSync(join(folder, `${name}.ndjson`), lines.map((line) => `${jsonOf(line)}\n`).join(''));
  writeFileSync(join(folder, `${name}.json`), `[\n${lines.map(jsonOf).join(',\n')}\n]\n`);
}

function contestants(scene: Scene): readonly Contestant[] {
  const file = (name: string) => join(scene.folder, name);
  const tenth = Math.ceil(scene.pets / 10);
  const environments = ['staging', 'production'] as const;
  return [
    listBoth(scene),
    diff(scene, 'environments, a tenth differs', { sides: environments, right: 'tenth', rows: tenth }),
    diff(scene, 'environments, one in no order', { sides: environments, right: 'shuffled', rows: tenth }),
    diff(scene, 'environments, every pet differs', { sides: environments, right: 'every', rows: scene.pets }),
    ...['csv', 'json', 'ndjson'].map((extension) =>
      diff(scene, `files, ${extension}`, {
        sides: [file(`left.${extension}`), file(`right.${extension}`)],
        right: 'tenth',
        rows: tenth,
      }),
    ),
  ];
}

function listBoth(scene: Scene): Contestant {
  const list = (env: string) => measure(scene, ['list', '-o', 'ndjson', '--env', env], 'tenth');
  return {
    name: listing,
    attempt: async () => {
      const [left, right] = [await list('staging'), await list('production')];
      const peakMb = Math.max(left.peakMb, right.peakMb);
      return { ms: left.ms + right.ms, cpuMs: left.cpuMs + right.cpuMs, peakMb };
    },
  };
}

interface Comparison {
  readonly sides: readonly [string, string];
  readonly right: Variant;
  /** How many differ. */
  readonly rows: number;
}

function diff(scene: Scene, name: string, { sides, right, rows }: Comparison): Contestant {
  return {
    name,
    attempt: async (isWarmUp) => {
      const sample = await measure(scene, ['diff', ...sides, '-o', 'ndjson'], right);
      if (isWarmUp) await requireRows(join(scene.folder, 'out'), rows, right === 'every' ? 1 : 10);
      return sample;
    },
  };
}

function measure({ measurer, program, port, folder }: Scene, args: readonly string[], right: Variant) {
  const env = {
    PETSTOCK_URL_STAGING: `http://127.0.0.1:${port}/left/v1`,
    PETSTOCK_URL_PRODUCTION: `http://127.0.0.1:${port}/${right}/v1`,
    PETSTOCK_API_KEY: 'psk_0123456789abcdefghijklmn',
    PETSTOCK_STATE_DIR: join(folder, 'state'),
    PETSTOCK_CONFIG_DIR: join(folder, 'config'),
  };
  const argv = [process.execPath, program, 'inventory', ...args, '-q'];
  return measurer.run({ argv, env }, { stdout: join(folder, 'out'), seconds: 180 });
}

/** Every line is a pet that has one more on the right, every `step`-th of the stock in its order. @throws WrongResult */
async function requireRows(path: string, rows: number, step: number): Promise<void> {
  const expected = linesOf(rows * step, 'left');
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const pet = expected[count * step];
    const [left, right] = [pet?.quantity ?? 0, (pet?.quantity ?? 0) + 1];
    const side = (quantity: number) => `{"quantity":${quantity},"status":"${pet?.status}"}`;
    const wanted = `{"petId":${pet?.petId},"change":"changed","left":${side(left)},"right":${side(right)}}`;
    if (line !== wanted) throw new WrongResult(`line ${count + 1} is ${line}, not ${wanted}`);
    count += 1;
  }
  if (count !== rows) throw new WrongResult(`${count} lines, not ${rows}`);
}

function reportOf(results: Results, pets: number): Report {
  const both = results.get(listing);
  const lines = results.all.map((result) => [
    result.name,
    seconds(result.median('ms')),
    seconds(result.median('cpuMs')),
    whole(result.median('peakMb')),
    result === both ? '1' : result.ratioTo(both).toFixed(2),
    result.fault ?? 'yes',
  ]);
  const header = [`${pets} and ${pets} pets`, 's', 's of CPU', 'MB', 'x', 'exact'];
  const diffs = results.all.filter((result) => result !== both);
  return {
    text: table([header, ...lines]),
    goals: [
      goalOf('`inventory diff` of two lists', '250 MB, 3 x the two lists', [
        ...diffs.flatMap((result) => [
          [atMost(result.ratioTo(both), 3), result.name] as const,
          [megabytes(result.median('peakMb'), 250), ''] as const,
        ]),
        ...faultsOf(results.all),
      ]),
    ],
  };
}
