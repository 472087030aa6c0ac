import type { Clock } from '../../shared/clock.ts';
import type { Busy } from '../pets.ts';
import type { Answer, PostgresConnection } from './connection.ts';
import type { PostgresPresence } from './postgres-presence.ts';

/** What the parts of one open state share. */
export interface Shared {
  readonly connection: PostgresConnection;
  readonly presence: PostgresPresence;
  readonly clock: Clock;
  /** A number in [0, 1). */
  random(): number;
}

/** @param answer of `petstock.busy_with` */
export function busyIn({ connection }: Pick<Shared, 'connection'>, answer: Answer): Busy {
  return {
    run: typeof answer.run === 'string' ? answer.run : undefined,
    // As late as it may be: a request could be on its way until then.
    until: typeof answer.until === 'number' ? connection.time.localLatest(answer.until) : undefined,
  };
}
