import { fold } from '../../src/rate-limit/fold.ts';
import { emptyState, encodeState } from '../../src/rate-limit/key-state.ts';
import type { Ledger } from '../../src/rate-limit/ledger.ts';
import type { LedgerRecord } from '../../src/rate-limit/records.ts';

/** What the processes of one machine share. */
export interface Log {
  open(): Ledger;
  /** Somebody was killed in the middle of a write. */
  tear(): void;
}

/** Ledgers that many simulated processes share as they share a file: generations of records, each but the last sealed. */
export class SharedLog implements Log {
  readonly #generations: (LedgerRecord | 'torn')[][] = [[]];
  readonly #sealAt: number;

  /** @param sealAt records after which a generation is sealed */
  constructor(sealAt = Number.POSITIVE_INFINITY) {
    this.#sealAt = sealAt;
  }

  tear(): void {
    this.#generations.at(-1)?.push('torn');
  }

  open(): Ledger {
    const generations = this.#generations;
    const sealAt = this.#sealAt;
    let generation = generations.length - 1;
    let position = 0;
    let state = emptyState();
    const read = (): void => {
      for (;;) {
        const record = generations[generation]?.[position];
        if (record === undefined) return;
        position += 1;
        if (record === 'torn') continue;
        if (record.type === 'seal') follow();
        // The state that is folded is written to, and others read the same record.
        else fold(state, record.type === 'summary' ? structuredClone(record) : record);
      }
    };
    const follow = (): void => {
      const summary = structuredClone(encodeState(state));
      generation += 1;
      generations[generation] ??= [{ type: 'summary', state: summary }];
      position = 0;
      state = emptyState();
    };
    return {
      get state() {
        return state;
      },
      alone: false,
      refresh: read,
      glance: read,
      commit: (record) => {
        read();
        generations[generation]?.push(record);
        read();
        if (position <= sealAt) return;
        generations[generation]?.push({ type: 'seal' });
        read();
      },
    };
  }
}
