import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, vi } from 'vitest';
import { createSystemClock } from '../../src/shared/clock.ts';
import { keptBoot } from '../../src/shared/kept-boot.ts';
import { newFolder, test } from '../support/new-folder.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

const hour = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Returns a function that acts as a new process on a machine without boot ids. @param folder keeps the boot */
function machine(folder = newFolder()) {
  return (upFor: number) => keptBoot({ folder, monotonic: () => upFor });
}

/** Returns the boot that a process's clock finds after its wall clock was stepped. */
function steppedBoot(folder: string, step: number) {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + step });
  const kept = (monotonic: () => number) => keptBoot({ folder, monotonic });
  const boot = createSystemClock(process.hrtime.bigint, { kept, bootId: '/nowhere' }).boot();
  vi.useRealTimers();
  return boot;
}

describe('keptBoot on a system without boot ids', () => {
  test('does not take a stepped wall clock for a restart', ({ folder }) => {
    const boots = [0, 61_000, hour, -hour, 400 * 24 * hour].map((step) => steppedBoot(folder, step));
    expect(new Set(boots).size).toBe(1);
  });

  test('notices a restart if the machine has been up for less long than before', () => {
    const bootAfter = machine();
    const first = bootAfter(0);
    expect(bootAfter(5 * hour)).toBe(first);
    const second = bootAfter(hour);
    expect(second).not.toBe(first);
    expect(bootAfter(hour + 1)).toBe(second);
  });

  test('gives the same boot to two processes that start at the same moment', ({ folder }) => {
    let other = '';
    const monotonic = () => {
      other ||= machine(folder)(7);
      return 7;
    };
    expect(keptBoot({ folder, monotonic })).toBe(other);
    expect(other).toMatch(/^[\da-f-]{36}$/);
    // The folder has the file and its lock.
    expect(readdirSync(folder)).toHaveLength(2);
    expect(readdirSync(folder)[0]).toContain(/^\w+/.exec(hostname())?.[0]);
  });

  const uptimes = fc.array(fc.double({ min: 0, max: 100 * hour, noNaN: true }), { minLength: 1, maxLength: 20 });

  property('reports no restart while the uptime only grows', [uptimes], (moments) => {
    const boots = moments.toSorted((a, b) => a - b).map(machine());
    expect(new Set(boots).size).toBe(1);
  });

  test('replaces a damaged boot file, as after a restart', ({ folder }) => {
    const bootAfter = machine(folder);
    const first = bootAfter(7);
    const [name = ''] = readdirSync(folder);
    writeFileSync(join(folder, name), 'x');
    const second = bootAfter(8);
    expect(second).not.toBe(first);
    expect(bootAfter(9)).toBe(second);
  });

  test("keeps a boot if its file can't be refreshed, and fails if a new boot can't be stored", ({ folder }) => {
    const bootAfter = machine(folder);
    const first = bootAfter(7);
    const file = join(folder, readdirSync(folder)[0] ?? '');
    mkdirSync(`${file}.new`);
    expect(bootAfter(hour)).toBe(first);
    rmSync(file);
    expect(() => bootAfter(hour)).toThrow(/EISDIR/);
  });

  test('refreshes the file once a minute', ({ folder }) => {
    const bootAfter = machine(folder);
    const first = bootAfter(1_000);
    const file = join(folder, readdirSync(folder)[0] ?? '');
    for (const [upFor, kept] of [
      [61_000, 1_000],
      [61_001, 61_001],
    ] as const) {
      bootAfter(upFor);
      expect(readFileSync(file, 'utf8')).toBe(`${kept} ${first}\n`);
    }
  });

  test('identifies a boot by its time if no folder can be created', ({ folder }) => {
    writeFileSync(join(folder, 'state'), 'a file');
    expect(steppedBoot(join(folder, 'state'), 0)).toMatch(/^since \d+$/);
  });
});
