import type { Scenario } from './scenario.ts';
import type { WireRequest } from './verdict.ts';

/** On stderr: every request of ours. */
export function trace(scenario: Scenario, wire: readonly WireRequest[], begun: number): void {
  if (scenario.client !== 'petstock') return;
  const since = (moment: number | undefined) => (moment === undefined ? '-' : (moment - begun).toFixed(1)).padStart(9);
  const requests = wire.map(({ process, sent, head, status, remaining, retryAfter }) =>
    [process, since(sent), since(head), status ?? '-', remaining ?? '-', retryAfter ?? '-'].join(' '),
  );
  const head = [`# ${JSON.stringify(scenario)}, begun at ${begun}`, 'process sent head status remaining retry-after'];
  process.stderr.write(`${[...head, ...requests].join('\n')}\n`);
}
