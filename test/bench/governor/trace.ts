import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from './scenario.ts';
import type { WireRequest } from './verdict.ts';

/** On stderr: every request of ours, and all lines that are left of the ledger. */
export function trace(scenario: Scenario, wire: readonly WireRequest[], begun: number, stateFolder: string): void {
  if (scenario.client !== 'petstock') return;
  const since = (moment: number | undefined) => (moment === undefined ? '-' : (moment - begun).toFixed(1)).padStart(9);
  const requests = wire.map(({ process, sent, head, status, remaining, retryAfter }) =>
    [process, since(sent), since(head), status ?? '-', remaining ?? '-', retryAfter ?? '-'].join(' '),
  );
  const folder = join(stateFolder, 'limits');
  const ledger =
    scenario.client !== 'petstock'
      ? []
      : readdirSync(folder).flatMap((name) => [name, readFileSync(join(folder, name), 'utf8').trimStart()]);
  const head = [`# ${JSON.stringify(scenario)}, begun at ${begun}`, 'process sent head status remaining retry-after'];
  process.stderr.write(`${[...head, ...requests, ...ledger].join('\n')}\n`);
}
