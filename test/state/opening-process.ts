import { createSystemClock } from '../../src/shared/clock.ts';
import { createSystemProcesses } from '../../src/shared/processes.ts';
import { openState } from '../../src/state/open-state.ts';

/** Opens the state in a folder and begins five runs in it. */
const folder = process.argv[2] ?? '';
const clock = createSystemClock(process.hrtime.bigint);
const processes = createSystemProcesses({ pid: process.pid, boot: clock.boot(), kill: process.kill.bind(process) });
const warn = (line: string) => void process.stderr.write(`${line}\n`);
const state = await openState({
  folder,
  need: 'history',
  clock,
  processes,
  random: Math.random,
  command: 'test',
  warn,
});
const head = {
  command: 'test',
  env: 'staging',
  store: undefined,
  baseUrl: 'https://pets.example/v1',
  service: 'https://pets.example/v1',
  scope: 'abc',
  user: undefined,
  unchanged: 0,
};
const rows = [{ row: 1, line: 1, petId: 1n, before: 1, after: 2, reason: undefined, ref: undefined }];
for (let run = 0; run < 5; run += 1) await (await state.history.begin(head, rows)).end();
await state.close();
process.stdout.write('begun 5\n');
