import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpResponse } from '../../src/api/transport.ts';
import { createLiveLine } from '../../src/cli/progress/live-line.ts';
import { createProgress } from '../../src/cli/progress/progress.ts';
import { createPaint } from '../../src/output/terminal.ts';
import { startService } from '../../src/service/index.ts';
import { createTestClock } from '../support/clock.ts';
import { runMain } from '../support/context.ts';
import { screenOf, svgOf } from './svg.ts';

/** Commands that run one after another in a new shop, and are shown on one terminal. */
interface Scene {
  readonly title: string;
  readonly columns: number;
  /** Commands that run first and are not shown. */
  readonly before?: readonly string[];
  readonly commands: readonly string[];
}

const north = 'inventory set 1 1200 --reason "stock-take in the north store"';
const scenes: Readonly<Record<string, Scene>> = {
  list: { title: 'petstock inventory list', columns: 80, commands: ['inventory list'] },
  apply: { title: 'petstock inventory apply', columns: 80, commands: ['inventory apply delivery.csv --yes'] },
  overview: {
    title: 'petstock inventory list --summary, limits and history list',
    columns: 100,
    before: [north, 'inventory adjust 8 -2 --reason "sold at the fair"', 'inventory apply delivery.csv --yes'],
    commands: ['inventory list --summary', 'limits', 'history list'],
  },
  error: { title: 'An error of petstock', columns: 80, commands: ['inventory set 4 12 --expect 40'] },
};

/** The address of the service in the pictures, instead of a port that changes each time. */
const address = 'https://pets.example.com/v1';
const delivery = 'petId,expected,quantity\n4,,12\n5,,0\n8,32,140\n20,8,60\n9007199254740993,,6\n';
const key = 'psk_picturepicture7q4f';

// The pictures show times in the time zone of the tests, wherever they are drawn.
process.env.TZ = 'America/New_York';
const pictures = join(import.meta.dirname, '../../docs/pictures');
await mkdir(pictures, { recursive: true });
// Each run gives the same bytes: the stock has a seed, and the clock is a test clock.
for (const [name, scene] of Object.entries(scenes)) await draw(name, scene, await play(scene));
await draw('progress', { title: 'How far an apply has come', columns: 80 }, await progress());

async function draw(name: string, { title, columns }: Pick<Scene, 'title' | 'columns'>, written: string) {
  await writeFile(join(pictures, `${name}.svg`), svgOf({ title, columns, lines: screenOf(written) }));
}

/** Plays a scene, and returns its output: stdout and stderr, in the order in which a terminal shows them. */
async function play({ columns, before = [], commands }: Scene): Promise<string> {
  const clock = createTestClock();
  const folder = await mkdtemp(join(tmpdir(), 'petstock-pictures-'));
  const service = await startService({ file: ':memory:', clock, seed: 1, key, limits: { minute: 60, day: 5000 } });
  try {
    await writeFile(join(folder, 'delivery.csv'), delivery);
    const folders = { config: join(folder, 'config'), state: join(folder, 'state') };
    const env = { PETSTOCK_URL_STAGING: service.url, PETSTOCK_API_KEY_STAGING: service.key, USER: 'kim' };
    let last: Promise<unknown> = Promise.resolve();
    // Requests are sent one after another, so that the rest of the limit is always the same.
    const around = (send: () => Promise<HttpResponse>): Promise<HttpResponse> => {
      const answer = last.then(send);
      last = answer.catch(() => {});
      return answer;
    };
    let shown = '';
    const write = (text: string) => {
      shown += text;
    };
    for (const [index, command] of [...before, ...commands].entries()) {
      if (index === before.length) shown = '';
      write(`${index > before.length ? '\n' : ''}${prompt(command)}`);
      const random = () => (0.6180339887 * (index + 1)) % 1;
      const options = { clock, folders, env, terminal: columns, random, around, onStdout: write, onStderr: write };
      await runMain(wordsOf(command, folder), options);
      clock.advance(1000);
    }
    return shown.replaceAll(service.url, address).replaceAll(`${folder}/`, '');
  } finally {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function prompt(command: string): string {
  return `\x1b[36m$\x1b[39m petstock ${command}\n`;
}

function wordsOf(command: string, folder: string): string[] {
  const words = command.match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => word.replaceAll('"', '').replace(/^delivery\.csv$/, join(folder, 'delivery.csv')));
}

/** Returns the progress line of an apply, without a run, whose line would be different each time. */
async function progress(): Promise<string> {
  const clock = createTestClock();
  let written = prompt('inventory apply counts.csv --yes');
  const stderr = {
    isTerminal: true,
    columns: 80,
    write: async (chunk: string | Uint8Array) => {
      written += Buffer.from(chunk).toString('utf8');
    },
  };
  const line = createProgress(clock, createLiveLine({ clock, stderr }), {
    total: 1200,
    note: () => {},
    paint: await createPaint(true),
    limitSeconds: (rows) => rows / 10,
  });
  for (let done = 0; done <= 512; done += 8) {
    line.update({ done, failed: done > 200 ? 2 : 0 });
    clock.advance(800);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return written;
}
