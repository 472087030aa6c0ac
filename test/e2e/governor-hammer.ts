import { closeSync, openSync, unlinkSync } from 'node:fs';
import { hrtime } from 'node:process';
import { createFileLedger } from '../../src/rate-limit/ledger-file.ts';

// As many tries for the one probe as there is time for: `node --import tsx governor-hammer.ts <folder> <name> <seconds>`.
// Whoever has it makes a file that must not be there.
const [folder = '', name = '', seconds = ''] = process.argv.slice(2);
const faults: string[] = [];
const ledger = createFileLedger({
  folder,
  scope: 'ab',
  unique: name,
  sealAt: 600,
  onFallback: ({ message }) => faults.push(message),
});
const now = () => Number(hrtime.bigint()) / 1e6;
const end = now() + Number(seconds) * 1000;
let admitted = 0;
let tries = 0;
while (now() < end) {
  tries += 1;
  const id = `${name}${tries}`;
  const at = now();
  ledger.commit({ type: 'intent', id, at, expires: at + 60_000, bulk: false });
  if (!ledger.state.inFlight.has(id)) continue;
  admitted += 1;
  try {
    closeSync(openSync(`${folder}/held`, 'wx'));
    unlinkSync(`${folder}/held`);
  } catch (error) {
    faults.push(`held by two: ${(error as Error).message}`);
  }
  ledger.commit({ type: 'unsent', id });
}
process.stdout.write(JSON.stringify({ admitted, tries, faults }));
