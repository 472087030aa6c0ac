import { closeSync, openSync, unlinkSync } from 'node:fs';
import { createSystemClock } from '../../bin/system-clock.ts';
import { GateFile } from '../../src/rate-limit/gate-file.ts';
import { Limits } from '../../src/rate-limit/limits.ts';
import { openState } from '../../src/state/open-state.ts';

// Tries as often as possible to be the process with the probe: `node --import tsx limits-hammer.ts <folder> <seconds>`.
// The process with the probe creates a file, which must not exist yet.
const [folder = '', seconds = ''] = process.argv.slice(2);
const faults: string[] = [];
const warn = (line: string) => faults.push(line);
const clock = createSystemClock();
const state = await openState({ folder, url: undefined, clock });
const limits = new Limits({
  ...{ store: state, gates: new GateFile([folder], clock), clock, scope: 'ab', target: 'staging', random: Math.random },
  ...{ permitLifetime: 60_000, isBulk: false, maxWait: 0, isBoundPerWait: true, onWait: () => {}, warn },
});
const end = clock.monotonic() + Number(seconds) * 1000;
let admitted = 0;
let tries = 0;
while (clock.monotonic() < end) {
  tries += 1;
  const [permit] = await state.transact([limits.reading], ([rows], moment) => {
    const { permits: result, writes } = limits.admit(rows?.[0], moment, { min: 1, max: 1 });
    return { writes, result };
  });
  if (permit === undefined) continue;
  admitted += 1;
  try {
    closeSync(openSync(`${folder}/held`, 'wx'));
    unlinkSync(`${folder}/held`);
  } catch (error) {
    faults.push(`held by two: ${(error as Error).message}`);
  }
  await permit.release();
  await limits.save();
}
await state.close();
process.stdout.write(JSON.stringify({ admitted, tries, faults }));
