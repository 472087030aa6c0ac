import { expect, test } from 'vitest';
import { exitCodes } from '../../src/shared/errors.ts';
import { petstockAt } from '../support/petstock.ts';
import { scriptedService, tenEach, until } from '../support/scripted-service.ts';
import { stormOf } from '../support/storm.ts';

/** The number of adjusts. `PETSTOCK_RUNS=200` runs a long storm, and `PETSTOCK_SEED` another one. */
const adjusts = Number(process.env.PETSTOCK_RUNS ?? 24);
const seed = Number(process.env.PETSTOCK_SEED ?? 7);

test(`adds at most 1 per adjust with ${adjusts} adjusts, some killed, on a bad network (seed ${seed})`, async () => {
  const service = await scriptedService({ stock: tenEach(4) });
  const petstock = petstockAt(service);
  const storm = stormOf(service, seed);
  service.always('PATCH', storm.action);
  const codes: (number | null)[] = [];
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < adjusts) {
      begun += 1;
      const petId = 1 + Math.floor(storm.random() * 4);
      const program = petstock.start(`inventory adjust ${petId} +1 -q --timeout 1.5`);
      if (storm.random() < 0.3) {
        // Kills the program at some moment between its start and its end.
        const timer = setTimeout(() => program.kill('SIGKILL'), 150 + storm.random() * 1000);
        void program.result.finally(() => clearTimeout(timer));
      }
      codes.push((await program.result).code);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  await until(() => expect(storm.onTheWay()).toBe(0));
  // A request that was sent again with the same quantity may arrive twice.
  const changes = storm.writes().filter(({ before, after }) => after !== before);
  expect(changes.filter(({ before, after }) => after !== before + 1)).toEqual([]);
  const count = (wanted: readonly (number | null)[]) => codes.filter((code) => wanted.includes(code)).length;
  const [applied, refused] = [count([exitCodes.ok]), count([exitCodes.unavailable, exitCodes.conflict])];
  // An adjust that was killed, or that ended in time without knowing its outcome, may have been carried out or not.
  const uncertain = count([null, exitCodes.partial]);
  expect(applied + refused + uncertain).toBe(adjusts);
  expect(changes.length).toBeGreaterThanOrEqual(applied);
  expect(changes.length).toBeLessThanOrEqual(applied + uncertain);
}, 600_000);
