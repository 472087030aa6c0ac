import { setMaxListeners } from 'node:events';
import type { Outcome } from '../history/records.ts';
import type { RowError } from '../inventory/change.ts';
import type { InventoryItem } from '../inventory/items.ts';
import { FailureError, InterruptedError, PetstockError } from '../shared/errors.ts';
import { rowErrorOf, verdictOn } from './classify-failure.ts';
import { createPreparedRows, type PreparedRow } from './prepared-rows.ts';
import { createFinished } from './release.ts';
import type { Progression, RowWrite, Settlement, WriteOptions } from './row-write.ts';

/** Sends rows, each once, and notes what becomes of them. */
export interface Round {
  /** Resolves when each row is settled, open, or was not sent because the round ended. */
  send(queue: readonly RowWrite[]): Promise<void>;
  /** Settles an open row by the stock that was found, unless that is as before. */
  confirm(row: RowWrite, found: number | undefined): 'settled' | 'send again';
  /** Nothing more is begun; what is in flight is let finish. The first cause counts. */
  stop(cause: unknown): void;
  readonly ended: boolean;
  /** The last failure that says nothing about its row. */
  readonly lastFault: unknown;
  close(): void;
}

export function createRound(options: WriteOptions, progression: Progression): Round {
  const { client, journal, claims, mark, concurrency, failFast, interrupted } = options;
  const { settled, open } = progression;
  /** So many failures in a row and no success end a round early: the service is not asked for all rows in vain. */
  const patience = Math.max(8, concurrency * 2);
  const claimed = new Set<RowWrite>();
  const finished = createFinished(options);
  /** Ends the wait of those that have not left. */
  const turns = new AbortController();
  setMaxListeners(0, turns.signal);
  let ended = false;
  let lastFault: unknown;
  let faultsInARow = 0;

  const end = (): void => {
    ended = true;
    turns.abort(new InterruptedError('The run has ended'));
  };
  const stop = (cause: unknown): void => {
    progression.stoppedBy ??= cause;
    end();
  };
  const onInterrupt = () => stop(interrupted.reason);
  interrupted.addEventListener('abort', onInterrupt);
  if (interrupted.aborted) onInterrupt();

  /** Nobody waits for the disk here: a row without an outcome is looked at later, which is as safe. */
  const record = (outcome: Outcome): void => {
    journal.outcome(outcome).catch(stop);
  };

  const settle = ({ row, petId }: RowWrite, settlement: Settlement, quantity?: number): void => {
    const { result, error } = settlement;
    record({ row, result, quantity, error });
    open.delete(row);
    settled.set(row, settlement);
    finished.add(petId);
    options.onSettled(settlement);
    if (failFast && result !== 'applied') end();
  };

  const judge = (row: RowWrite, { petId, quantity }: InventoryItem): void => {
    if (petId !== row.petId) throw new FailureError(`The service answered with pet ${petId}, not ${row.petId}`);
    faultsInARow = 0;
    if (quantity === row.after) {
      settle(row, { result: 'applied' }, quantity);
    } else {
      const message = `the service set the stock to ${quantity}, not to ${row.after}`;
      progression.firstFailure ??= new FailureError(`Pet ${petId}: ${message}`);
      settle(row, { result: 'failed', error: { code: 'unexpected_answer', message } }, quantity);
    }
  };

  const blame = (row: RowWrite, error: unknown): void => {
    const verdict = verdictOn(error);
    const told = rowErrorOf(error);
    if (verdict.kind === 'failed') {
      faultsInARow = 0;
      if (error instanceof PetstockError) progression.firstFailure ??= error;
      settle(row, { result: 'failed', error: told });
      return;
    }
    lastFault = error;
    faultsInARow += 1;
    if (verdict.kind === 'open') open.set(row.row, told);
    record({ row: row.row, result: verdict.kind === 'open' ? 'unknown' : 'void', error: told });
    // What was still waiting when the run ended is told that it has; that is no cause.
    if (verdict.stop && !ended) stop(error);
  };

  const write = async (row: RowWrite): Promise<void> => {
    try {
      judge(row, await client.updateInventory(row.petId, row.after, { once: turns.signal }));
    } catch (error) {
      blame(row, error);
    }
  };

  /** A row that was prepared, and is not sent. */
  const letBe = ({ row, isTaken }: PreparedRow): void => {
    if (isTaken) return;
    record({ row: row.row, result: 'void' });
    claimed.delete(row);
    claims.withdraw(row.petId);
  };

  const goesOn = () => !ended && faultsInARow < patience;

  return {
    send: async (queue) => {
      faultsInARow = 0;
      const rows = createPreparedRows(queue, { journal, claims, mark, claimed, size: concurrency * 4 });
      const work = async (): Promise<void> => {
        const take = () => (goesOn() ? rows.take() : undefined);
        for (let next = take(); next !== undefined; next = take()) {
          await next.durable;
          if (!goesOn()) letBe(next);
          else if (next.isTaken) settle(next.row, { result: 'conflict', error: overtaken });
          else await write(next.row);
        }
      };
      // Only the disk can fail here: what the service does is a row's own affair.
      await Promise.all(Array.from({ length: Math.min(concurrency, queue.length) }, () => work().catch(stop)));
      for (const row of rows.unused()) letBe(row);
      finished.tell();
    },
    confirm: (row, found) => {
      if (found === row.before) {
        open.delete(row.row);
        return 'send again';
      }
      settle(
        row,
        found === row.after ? { result: 'applied' } : { result: 'conflict', error: moved(row, found) },
        found,
      );
      return 'settled';
    },
    stop,
    get ended() {
      return ended;
    },
    get lastFault() {
      return lastFault;
    },
    close: () => {
      finished.tell();
      interrupted.removeEventListener('abort', onInterrupt);
    },
  };
}

const overtaken: RowError = {
  code: 'conflict',
  message: 'another command on this machine has changed it since its stock was read',
};

function moved({ petId, before, after }: RowWrite, found: number | undefined): RowError {
  if (found === undefined) return { code: 'conflict', message: `there is no pet ${petId} any more` };
  return { code: 'conflict', message: `the stock is ${found}, neither ${before} as before nor ${after} as wanted` };
}
