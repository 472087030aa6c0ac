import { readFileSync } from 'node:fs';
import { type Journal, openJournal } from '../../src/history/journal.ts';
import type { Machine } from '../../src/history/machine.ts';
import type { JournalChange, Outcome, RunHead } from '../../src/history/records.ts';
import { temporaryFolders } from '../support/shop.ts';

export const head: RunHead = {
  command: 'inventory apply',
  env: 'staging',
  baseUrl: 'https://store.example/v1',
  key: '0123456789abcdef0123456789abcdef',
  user: 'ana',
  file: 'delivery.csv',
};

export function change(row: number, fields: Partial<JournalChange> = {}): JournalChange {
  const petId = 9_007_199_254_740_993n + BigInt(row);
  return { row, line: row + 1, petId, before: 5, after: 8, reason: undefined, ref: undefined, ...fields };
}

export function changes(count: number): JournalChange[] {
  return Array.from({ length: count }, (_, index) => change(index + 1));
}

export interface Rig {
  readonly stateFolder: string;
  /** The processes that live: their numbers. */
  readonly alive: Set<number>;
  machine(pid?: number): Machine & { now(): number };
  /** Opens the journal of a run that begins a second after the last one. */
  open(options?: { head?: Partial<RunHead>; pid?: number; boot?: string }): Promise<Journal>;
  /** A run with its changes and what became of them, closed in good order. */
  record(
    outcomes: readonly Outcome[],
    options?: { head?: Partial<RunHead>; changes?: JournalChange[] },
  ): Promise<string>;
  path(run: string): string;
  text(run: string): string;
}

/** A state folder of its own, and a machine on which process 1 is this one. */
export async function createRig(): Promise<Rig> {
  const { state: stateFolder } = await temporaryFolders();
  const alive = new Set([1]);
  let second = 0;
  let suffix = 0;
  const now = () => Date.UTC(2026, 0, 15, 12) + second * 1000;
  const rig: Rig = {
    stateFolder,
    alive,
    machine: (pid = 1) => ({ pid, boot: 'this', isAlive: (other) => alive.has(other), now }),
    open: (options = {}) => {
      second += 1;
      suffix += 1;
      const { pid = 1, boot = 'this' } = options;
      return openJournal({ ...head, ...options.head }, { stateFolder, now, random: () => suffix / 36 ** 4, pid, boot });
    },
    record: async (outcomes, options = {}) => {
      const journal = await rig.open(options);
      await journal.plan(options.changes ?? changes(outcomes.length), 0);
      for (const outcome of outcomes) {
        await journal.intent(outcome.row);
        await journal.outcome(outcome);
      }
      await journal.close();
      return journal.run;
    },
    path: (run) => `${stateFolder}/history/${run}.ndjson`,
    text: (run) => readFileSync(rig.path(run), 'utf8'),
  };
  return rig;
}
