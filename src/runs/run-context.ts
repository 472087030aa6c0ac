import type { Client } from '../api/client.ts';
import type { Target } from '../shared/target.ts';
import type { State } from '../state/state.ts';
import type { WriteOptions } from '../writes/row-write.ts';

/** The target of a run, and what is needed to carry the run out. */
export interface RunContext
  extends Pick<WriteOptions, 'governor' | 'timeout' | 'retries' | 'clock' | 'random' | 'interrupted' | 'onDelay'> {
  readonly client: Pick<Client, 'scanInventory' | 'updateInventory'>;
  readonly state: Pick<State, 'pets' | 'petWrites' | 'history' | 'presence'>;
  readonly target: Target;
  readonly baseUrl: string;
  /** The result of `serviceNameOf`. */
  readonly serviceName: string;
  /** A hash of the key and its service: the result of `scopeOf`. */
  readonly scope: string;
  /** The name to record in the history; undefined if the system has none for the user. */
  readonly user: string | undefined;
}
