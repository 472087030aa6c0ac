import { expect, it } from 'vitest';
import { DatabaseClock } from '../../src/state/postgres/database-clock.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { createStateClock } from './rig.ts';

const trip = fc.record({ there: fc.nat(200), back: fc.nat(200), pause: fc.nat(20_000) });

property(
  'converts times between the local and the database clock to bounds that include the true time',
  [fc.integer(), fc.array(trip, { minLength: 1 }), fc.nat(60_000)],
  (ahead, trips, length) => {
    const clock = createStateClock();
    const time = new DatabaseClock(clock);
    for (const { there, back, pause } of trips) {
      const sentAt = clock.monotonic();
      clock.advance(there);
      const read = clock.monotonic() + ahead;
      clock.advance(back);
      time.observe(read, sentAt, clock.monotonic());
      clock.advance(pause);
    }
    const at = clock.monotonic() + length;
    expect(time.earliest(at)).toBeLessThanOrEqual(at + ahead);
    expect(time.latest(at)).toBeGreaterThanOrEqual(at + ahead);
    expect(time.localEarliest(at + ahead)).toBeLessThanOrEqual(at);
    expect(time.localLatest(at + ahead)).toBeGreaterThanOrEqual(at);
  },
);

it('distrusts the database clock before a reading, a minute after it, and after a sleep', () => {
  const clock = createStateClock();
  let slept = 0;
  const time = new DatabaseClock({ ...clock, now: () => clock.now() + slept });
  expect(time.isDoubtful).toBe(true);
  time.observe(5000, clock.monotonic(), clock.monotonic());
  expect(time.isDoubtful).toBe(false);
  clock.advance(60_001);
  expect(time.isDoubtful).toBe(true);
  time.observe(65_001, clock.monotonic(), clock.monotonic());
  slept = 3_600_000;
  expect(time.isDoubtful).toBe(true);
  // Readings from before the sleep are not combined with the new one.
  time.observe(3_665_001, clock.monotonic(), clock.monotonic());
  expect(time.latest(clock.monotonic())).toBe(3_665_001);
});
