import { parseHttpDate } from '../../rate-limit/http-date.ts';
import type { SeenHead } from '../invocation/transport.ts';

export interface ClockFacts {
  /** How far the clock of this machine is ahead of the service's, in seconds; negative: behind. */
  readonly aheadSeconds: number;
  /** It may be off by as much: a `Date` is cut to whole seconds, and was written some time between sending and answer. */
  readonly uncertaintySeconds: number;
}

/** What an answer says of the clock of this machine. undefined: its `Date` makes no sense. */
export function clockFacts({ date, sentAt, receivedAt }: SeenHead): ClockFacts | undefined {
  const service = parseHttpDate(date, receivedAt);
  if (service === undefined) return undefined;
  const [least, most] = [sentAt - (service + 1000), receivedAt - service];
  return { aheadSeconds: seconds((least + most) / 2), uncertaintySeconds: seconds((most - least) / 2) };
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

/** `as the service's, within 0.6 s`, `183.2 s ahead of the service's, within 0.6 s` */
export function clockText({ aheadSeconds, uncertaintySeconds }: ClockFacts): string {
  const within = `within ${uncertaintySeconds} s`;
  if (Math.abs(aheadSeconds) <= uncertaintySeconds) return `as the service's, ${within}`;
  const way = aheadSeconds > 0 ? 'ahead of' : 'behind';
  return `${Math.abs(aheadSeconds)} s ${way} the service's, ${within}`;
}
