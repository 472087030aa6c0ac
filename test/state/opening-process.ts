import { createSystemClock } from '../../src/shared/clock.ts';
import { createSystemProcesses } from '../../src/shared/processes.ts';
import { openState } from '../../src/state/open-state.ts';
import { headOf, rowsFor } from './rig.ts';

/** Opens the state in a folder and begins five runs in it. */
const folder = process.argv[2] ?? '';
const clock = createSystemClock(process.hrtime.bigint);
const processes = createSystemProcesses({ pid: process.pid, boot: clock.boot, kill: process.kill.bind(process) });
const warn = (line: string) => void process.stderr.write(`${line}\n`);
const { random } = Math;
const state = await openState({ folder, need: 'history', clock, processes, random, command: 'test', warn });
for (let run = 0; run < 5; run += 1) await (await state.history.begin(headOf(), rowsFor(1n))).end();
await state.close();
process.stdout.write('begun 5\n');
