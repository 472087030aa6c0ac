import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../../src/service/index.ts';
import { createTestClock } from '../support/clock.ts';
import { runMain } from '../support/context.ts';
import { screenOf, svgOf } from './svg.ts';

/** The address of the service in the picture, instead of a port that changes each time. */
const address = 'https://pets.example.com/v1';
const key = 'psk_picturepicture7q4f';
const columns = 80;

/**
 * Draws what `petstock inventory list` shows on a terminal, for the README. Each run gives the same bytes: the stock has
 * a seed, the clock is a test clock, and times are in the time zone of the tests.
 */
export async function drawList(): Promise<void> {
  process.env.TZ = 'America/New_York';
  const clock = createTestClock();
  const folder = await mkdtemp(join(tmpdir(), 'petstock-pictures-'));
  const service = await startService({ file: ':memory:', clock, seed: 1, key, limits: { minute: 60, day: 5000 } });
  try {
    const folders = { config: join(folder, 'config'), state: join(folder, 'state') };
    const env = { PETSTOCK_URL_STAGING: service.url, PETSTOCK_API_KEY_STAGING: service.key };
    let shown = '\x1b[36m$\x1b[39m petstock inventory list\n';
    const write = (text: string) => {
      shown += text;
    };
    await runMain(['inventory', 'list'], { clock, folders, env, terminal: columns, onStdout: write, onStderr: write });
    const lines = screenOf(shown.replaceAll(service.url, address));
    const picture = join(import.meta.dirname, '../../docs/pictures/list.svg');
    await writeFile(picture, svgOf({ title: 'petstock inventory list', columns, lines }));
  } finally {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}
