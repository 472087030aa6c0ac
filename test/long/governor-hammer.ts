import { closeSync, openSync, unlinkSync } from 'node:fs';
import { hrtime } from 'node:process';
import { createSystemClock } from '../../src/shared/clock.ts';
import { createSystemProcesses } from '../../src/shared/processes.ts';
import { openState } from '../../src/state/open-state.ts';

// Tries as often as possible to be the process with the probe: `node --import tsx governor-hammer.ts <folder> <name>
// <seconds>`. The process with the probe creates a file, which must not exist yet.
const [folder = '', name = '', seconds = ''] = process.argv.slice(2);
const faults: string[] = [];
const clock = createSystemClock(hrtime.bigint);
const processes = createSystemProcesses({ pid: process.pid, boot: clock.boot, kill: process.kill });
const { limits, close } = await openLimits();
const end = clock.monotonic() + Number(seconds) * 1000;
let admitted = 0;
let tries = 0;
while (clock.monotonic() < end) {
  tries += 1;
  const id = `${name}${tries}`;
  const at = clock.monotonic();
  const ids = [id];
  const intent = { type: 'intent', ids, minPermits: 1, by: name, at, expires: at + 60_000, bulk: false } as const;
  const { inFlight } = await limits.fold('ab', [intent]);
  if (!inFlight.has(id)) continue;
  admitted += 1;
  try {
    closeSync(openSync(`${folder}/held`, 'wx'));
    unlinkSync(`${folder}/held`);
  } catch (error) {
    faults.push(`held by two: ${(error as Error).message}`);
  }
  await limits.fold('ab', [{ type: 'unsent', id }]);
}
await close();
process.stdout.write(JSON.stringify({ admitted, tries, faults }));

async function openLimits() {
  const warn = (line: string) => faults.push(line);
  const { random } = Math;
  const state = await openState({ folder, need: 'limits', clock, processes, random, command: 'hammer', warn });
  return { limits: state.limits, close: () => state.close() };
}
