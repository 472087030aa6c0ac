import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, vi } from 'vitest';
import { createSystemClock } from '../../src/shared/clock.ts';
import { keptBoot } from '../../src/shared/kept-boot.ts';
import { newFolder } from '../support/new-folder.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { temporaryFolders, test } from '../support/shop.ts';

const hour = 3_600_000;

/** A machine whose system has no name for a boot: each call is a process that has just begun. */
async function machine() {
  const { state } = await temporaryFolders();
  return (upFor: number) => keptBoot({ folder: state, monotonic: () => upFor });
}

afterEach(() => {
  vi.useRealTimers();
});

/** The clock of a process that has just begun, on such a system, with its wall clock stepped. */
function steppedClock(stateFolder: string, step: number) {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + step });
  const clock = createSystemClock(process.hrtime.bigint, {
    kept: (monotonic) => keptBoot({ folder: stateFolder, monotonic }),
    bootId: '/nowhere',
  });
  const boot = clock.boot();
  vi.useRealTimers();
  return boot;
}

describe('on a system that has no name for a boot', () => {
  test('a stepped wall clock is no restart', async () => {
    const { state } = await temporaryFolders();
    const boots = [0, 61_000, hour, -hour, 400 * 24 * hour].map((step) => steppedClock(state, step));
    expect(new Set(boots).size).toBe(1);
  });

  test('a run of a live process is not resumed by another whose wall clock was stepped', async ({ shop }) => {
    const clockOf = (step: number) => {
      const boot = steppedClock(shop.folders.state, step);
      return { ...shop.clock, boot: () => boot };
    };
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let applying: Promise<unknown> = Promise.resolve();
    // Until its first write is on its way.
    await new Promise<void>((resolve) => {
      let writes = 0;
      applying = shop.run('inventory apply - --yes --format csv', {
        clock: clockOf(0),
        stdin: 'petId,delta\n4,1\n5,1\n',
        onSent: ({ method }) => {
          if (method === 'PATCH') writes += 1;
        },
        around: async (send) => {
          const answer = await send();
          if (writes > 0) {
            resolve();
            await held;
          }
          return answer;
        },
      });
    });
    const listed = await shop.run('history list --json', { clock: clockOf(hour) });
    const [{ run, state }] = JSON.parse(listed.stdout);
    const resumed = await shop.run(`inventory apply --resume ${run} --yes`, { clock: clockOf(hour) });
    release();
    expect(state).toBe('running');
    expect(resumed).toMatchObject({ code: 7, stderr: expect.stringContaining('is still running') });
    expect(resumed.requests.filter(({ method }) => method === 'PATCH')).toEqual([]);
    expect(await applying).toMatchObject({ code: 0 });
  });

  test('a machine that has been up for less long than before was restarted', async () => {
    const bootAfter = await machine();
    const first = bootAfter(5 * hour);
    expect(bootAfter(5 * hour)).toBe(first);
    const second = bootAfter(hour);
    expect(second).not.toBe(first);
    expect(bootAfter(hour + 1)).toBe(second);
  });

  test('processes that begin at the same moment agree', { timeout: 60_000 }, async () => {
    const { state } = await temporaryFolders();
    // Of a boot that is over.
    keptBoot({ folder: state, monotonic: () => Number.MAX_SAFE_INTEGER });
    const script = fileURLToPath(new URL('asking-process.ts', import.meta.url));
    const children = Array.from({ length: 4 }, () => spawn(process.execPath, ['--import', 'tsx', script, state]));
    const answers = children.map((child) => text(child.stdout));
    await Promise.all(children.map((child) => once(child.stderr, 'data')));
    for (const child of children) child.stdin.end();
    const boots = await Promise.all(answers);
    expect(boots[0]).toMatch(/^[\da-f-]{36}$/);
    expect(new Set(boots).size).toBe(1);
    expect(readdirSync(state)).toHaveLength(1);
  });

  const uptimes = fc.array(fc.double({ min: 0, max: 100 * hour, noNaN: true }), { minLength: 1, maxLength: 20 });

  property('no restart is seen where there was none', [uptimes], async (moments) => {
    const bootAfter = await machine();
    const boots = moments.toSorted((a, b) => a - b).map(bootAfter);
    expect(new Set(boots).size).toBe(1);
  });

  test('a damaged file is another boot, and is replaced', async () => {
    const folder = newFolder();
    const first = keptBoot({ folder, monotonic: () => 7 });
    const [name = ''] = readdirSync(folder);
    writeFileSync(join(folder, name), 'x');
    const second = keptBoot({ folder, monotonic: () => 8 });
    expect(second).not.toBe(first);
    expect(keptBoot({ folder, monotonic: () => 9 })).toBe(second);
  });

  test('where no folder can be made the time of the boot stands for it', async () => {
    const { state } = await temporaryFolders();
    mkdirSync(join(state, '..'), { recursive: true });
    writeFileSync(state, 'a file');
    expect(steppedClock(state, 0)).toMatch(/^since \d+$/);
  });
});
