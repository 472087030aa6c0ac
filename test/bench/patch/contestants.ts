import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Served } from '../governor/served.ts';
import { startNode } from '../support/children.ts';
import type { Command, Measurer, Sample } from '../support/measure.ts';
import type { Contestant } from '../support/rounds.ts';
import { requireApplied, untilApplied } from './applied.ts';

/** What all contestants share. */
export interface Scene {
  readonly measurer: Measurer;
  /** The built program. */
  readonly program: string;
  readonly served: Served;
  readonly petIds: readonly string[];
  /** For the changes, and for what the program keeps. */
  readonly folder: string;
}

export const names = {
  curl: 'curl -Z, 8 at a time',
  ours: 'petstock inventory apply',
  undo: 'petstock undo',
  resume: 'petstock inventory apply --resume, a hundredth written',
  pool: 'undici Pool, 8 connections',
  fetch8: 'fetch, 8 at a time',
  fetch32: 'fetch, 32 at a time',
} as const;

/** Who changes 100,000; the others take minutes, and say no more than with 10,000. */
export const inLarge: ReadonlySet<string> = new Set([names.curl, names.ours, names.undo, names.resume, names.pool]);

const seconds = 120;
const peer = (file: string) => fileURLToPath(new URL(`peers/${file}`, import.meta.url));

/** In the order of the table. */
export function contestantsOf(scene: Scene): readonly Contestant[] {
  const script = (name: string, file: string, atOnce: number) =>
    writing(scene, name, ({ csv }) => ({ argv: [process.execPath, peer(file), csv, String(atOnce)] }));
  return [
    writing(scene, names.curl, ({ config }) => ({ argv: ['curl', '-sS', '-Z', '--parallel-max', '8', '-K', config] })),
    petstock(scene, names.ours),
    petstock(scene, `${names.ours} --concurrency 8`, '--concurrency', '8'),
    script(names.fetch8, 'fetch.js', 8),
    script(names.fetch32, 'fetch.js', 32),
    script(names.pool, 'pool.js', 8),
    undo(scene),
    resume(scene),
  ];
}

/** The changes of one run, in the forms that somebody takes. */
interface Changes {
  readonly csv: string;
  /** For curl's `--config`. */
  readonly config: string;
}

function writing(scene: Scene, name: string, commandOf: (changes: Changes) => Command): Contestant {
  const { url, key } = scene.served;
  return attempting(scene, name, (changes) => {
    const { argv, env } = commandOf(changes);
    return scene.measurer.run({ argv, env: { URL: url, KEY: key, ...env } }, { stdout: '/dev/null', seconds });
  });
}

/** As a user runs it: with its history, its limits and its report. The folder for these is another one each time. */
function petstock(scene: Scene, name: string, ...options: readonly string[]): Contestant {
  return attempting(scene, name, async ({ csv }) => (await apply(scene, csv, options)).sample);
}

/** Of a run that is not measured. The stock is then what it was before. */
function undo(scene: Scene): Contestant {
  return {
    name: names.undo,
    async attempt() {
      const before = await scene.served.stock();
      const wanted = new Map([...before].map(([petId, quantity]) => [petId, quantity + 1]));
      const { env } = await apply(scene, writeChanges(scene, wanted).csv, []);
      const report = join(scene.folder, 'report.json');
      const argv = [process.execPath, scene.program, 'undo', '--last', '--yes', '-o', 'json'];
      const sample = await scene.measurer.run({ argv, env }, { stdout: report, seconds });
      const after = await scene.served.stock();
      const wrong = [...before].filter(([petId, quantity]) => after.get(petId) !== quantity).length;
      if (wrong > 0) throw new Error(`${wrong} quantities are not what they were`);
      return sample;
    },
  };
}

/** Of a run that was interrupted when a hundredth of it was written. */
function resume(scene: Scene): Contestant {
  return attempting(scene, names.resume, async ({ csv }) => {
    const { state, env } = freshState(scene);
    const child = startNode([scene.program, 'inventory', 'apply', csv, '--yes', '--quiet'], env);
    const ended = once(child, 'exit');
    for (const stream of [child.stdout, child.stderr]) stream?.resume();
    const run = await untilApplied(state, scene.petIds.length / 100);
    child.kill('SIGINT');
    await ended;
    const report = join(scene.folder, 'report.json');
    const argv = [process.execPath, scene.program, 'inventory', 'apply', '--resume', run, '--yes', '-o', 'json'];
    const sample = await scene.measurer.run({ argv, env }, { stdout: report, seconds });
    await requireApplied({ report, state, changes: scene.petIds.length });
    return sample;
  });
}

let states = 0;

/** Where a run keeps what it knows: another folder each time. */
function freshState({ folder, served }: Scene) {
  states += 1;
  const state = join(folder, `state-${states}`);
  const env = {
    PETSTOCK_URL_STAGING: served.url,
    PETSTOCK_API_KEY_STAGING: served.key,
    PETSTOCK_CONFIG_DIR: join(folder, 'config'),
    PETSTOCK_STATE_DIR: state,
  };
  return { state, env };
}

async function apply(scene: Scene, csv: string, options: readonly string[]) {
  const { state, env } = freshState(scene);
  const argv = [process.execPath, scene.program, 'inventory', 'apply', csv, '--yes', '-o', 'json', ...options];
  const report = join(scene.folder, 'report.json');
  const sample = await scene.measurer.run({ argv, env }, { stdout: report, seconds });
  await requireApplied({ report, state, changes: scene.petIds.length });
  return { sample, env };
}

let runs = 0;

/** Other quantities in each run, of whomever: where they are the same, nothing would have to be written. */
function attempting(scene: Scene, name: string, write: (changes: Changes) => Promise<Sample>): Contestant {
  return {
    name,
    async attempt() {
      runs += 1;
      const wanted = new Map(scene.petIds.map((petId, index) => [petId, 1000 * runs + (index % 1000)]));
      const sample = await write(writeChanges(scene, wanted));
      const stock = await scene.served.stock();
      const wrong = scene.petIds.filter((petId) => stock.get(petId) !== wanted.get(petId)).length;
      if (wrong > 0) throw new Error(`${wrong} quantities are wrong`);
      return sample;
    },
  };
}

function writeChanges({ served, folder }: Scene, wanted: ReadonlyMap<string, number>): Changes {
  const changes = { csv: join(folder, 'changes.csv'), config: join(folder, 'curl.config') };
  const rows = [...wanted].map(([petId, quantity]) => `${petId},${quantity}\n`);
  writeFileSync(changes.csv, `petId,quantity\n${rows.join('')}`);
  const requests = [...wanted].map(([petId, quantity]) =>
    [
      `url = "${served.url}/inventory/${petId}"`,
      'request = "PATCH"',
      `header = "Authorization: Bearer ${served.key}"`,
      'header = "Content-Type: application/json"',
      `data = "{\\"quantity\\":${quantity}}"`,
      'output = "/dev/null"',
      'fail\n',
    ].join('\n'),
  );
  writeFileSync(changes.config, requests.join('next\n'));
  return changes;
}
