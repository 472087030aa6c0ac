import { describe, expect, it } from 'vitest';
import { createRateMeter } from '../../../src/cli/progress/progress.ts';
import fc, { property } from '../../support/seeded-fast-check.ts';

describe('the rate', () => {
  it('is not known before anything is done, nor in the first moment', () => {
    const meter = createRateMeter(5000);
    expect(meter.rate(9000, 0)).toBeUndefined();
    expect(meter.rate(5499, 3)).toBeUndefined();
    expect(meter.rate(5500, 3)).toBe(6);
  });

  it('is that of the last ten seconds', () => {
    const meter = createRateMeter(0);
    for (let at = 0; at <= 60_000; at += 100) meter.record(at, at / 100);
    // Ten a second for a minute, then one a second.
    for (let at = 61_000; at <= 80_000; at += 1000) meter.record(at, 600 + (at - 60_000) / 1000);
    expect(meter.rate(80_000, 620)).toBe(1);
  });

  it('falls while nothing is done', () => {
    const meter = createRateMeter(0);
    meter.record(1000, 10);
    expect(meter.rate(5000, 10)).toBe(2);
  });

  it('does not count waits, those that are cut short, prolonged, or still on', () => {
    const meter = createRateMeter(0);
    meter.record(1000, 10);
    meter.pause(1000, 40_000);
    expect(meter.pauseLeft(11_000)).toBe(30_000);
    meter.pause(11_000, 5000);
    expect(meter.rate(13_000, 10)).toBe(10);
    expect(meter.pauseLeft(15_999)).toBe(1);
    expect(meter.pauseLeft(16_000)).toBeUndefined();
    expect(meter.rate(17_000, 20)).toBe(10);
    meter.pause(17_000, 1000);
    meter.pause(20_000, 1000);
    expect(meter.rate(21_000, 40)).toBe(10);
  });

  const steps = fc.array(fc.oneof(fc.constant(undefined), fc.integer({ min: 0, max: 100_000 })), { minLength: 20 });

  property('is the rate at which rows come', [steps, fc.integer({ min: 1, max: 50 })], (waits, perStep) => {
    const meter = createRateMeter(0);
    let [at, done] = [0, 0];
    for (const wait of waits) {
      if (wait === undefined) {
        [at, done] = [at + 250, done + perStep];
        meter.record(at, done);
      } else {
        meter.pause(at, wait);
        at += wait;
      }
    }
    const rate = meter.rate(at, done);
    if (rate !== undefined) expect(rate).toBeCloseTo(perStep * 4, 6);
  });
});
