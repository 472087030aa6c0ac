import type { Clock } from '../../shared/clock.ts';
import type { ProcessIdentity } from '../../shared/processes.ts';
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

/** Another process that is in the way, in what a function of the schema returns. */
export interface Holder {
  readonly holder: string;
  readonly identity: ProcessIdentity;
}

/** @returns undefined where the answer names none */
export function holderIn(answer: Answer | undefined): Holder | undefined {
  if (answer === undefined || typeof answer.holder !== 'string' || typeof answer.identity !== 'string')
    return undefined;
  return { holder: answer.holder, identity: identityIn(answer.identity) };
}

export function identityIn(text: unknown): ProcessIdentity {
  return JSON.parse(String(text)) as ProcessIdentity;
}

/** @param answer of `petstock.busy_with` */
export function busyIn({ connection }: Pick<Shared, 'connection'>, answer: Answer): Busy {
  return {
    run: typeof answer.run === 'string' ? answer.run : undefined,
    // As late as it may be: a request could be on its way until then.
    until: typeof answer.until === 'number' ? connection.time.localLatest(answer.until) : undefined,
  };
}
