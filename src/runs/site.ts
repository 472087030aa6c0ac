import type { Client } from '../api/client.ts';
import type { Governor } from '../rate-limit/governor.ts';
import type { Clock } from '../shared/clock.ts';
import type { Where } from '../shared/where.ts';
import type { State } from '../state/state.ts';

/** Where a run writes, and what it works with: the same for the command line and the library. */
export interface RunSite {
  readonly client: Pick<Client, 'scanInventory' | 'updateInventory'>;
  readonly governor: Pick<Governor, 'admitSeveral'>;
  readonly state: Pick<State, 'pets' | 'history' | 'presence'>;
  readonly where: Where;
  readonly baseUrl: string;
  /** The service itself, by `serviceOf`. */
  readonly service: string;
  /** A hash of the key. */
  readonly scope: string;
  /** Who runs it; undefined if that has no name. */
  readonly user: string | undefined;
  /** Of one request, in milliseconds. */
  readonly timeout: number;
  /** How often a request is sent again after a fault of the network; default 4. */
  readonly retries?: number | undefined;
  readonly clock: Clock;
  random(): number;
  readonly interrupted: AbortSignal;
  /** Takes a sentence about what is waited for, without its period. */
  onDelay(sentence: string, attempt?: number): Promise<void> | void;
}
