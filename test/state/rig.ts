import { onTestFinished } from 'vitest';
import { createSystemClock } from '../../bin/system-clock.ts';
import type { PlannedRow, RunHead } from '../../src/inventory/run-records.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { History } from '../../src/state/history.ts';
import { openState } from '../../src/state/open-state.ts';
import { initPostgres } from '../../src/state/postgres.ts';
import type { Store } from '../../src/state/state-store.ts';
import { newFolder } from '../support/new-folder.ts';
import { temporaryDatabase } from '../support/postgres.ts';

export const engines = ['sqlite', 'postgres'] as const;
export type Engine = (typeof engines)[number];

/** A state that several processes open. */
export interface SharedState {
  /** The folder of a state in SQLite; the URL of one in PostgreSQL. */
  readonly place: string;
  /** Opens the state as another process does. It is closed when the test is finished. */
  open(clock?: Clock): Promise<Store>;
}

export const systemClock = createSystemClock();

export async function newState(engine: Engine): Promise<SharedState> {
  const place = engine === 'sqlite' ? newFolder() : await temporaryDatabase();
  if (engine === 'postgres') await initPostgres({ url: place, clock: systemClock });
  return { place, open: (clock) => openedIn(place, clock) };
}

/** @param place a folder, or the URL of a database */
export async function openedIn(place: string, clock: Clock = systemClock): Promise<Store> {
  const url = place.startsWith('postgres') ? place : undefined;
  const store = await openState({ folder: place, url, clock });
  onTestFinished(() => store.close());
  return store;
}

export function historyOf(store: Store): History {
  return new History({ store, random: Math.random, now: Date.now });
}

export const service = 'https://pets.example/v1';
export const ann = { user: 'ann', host: 'till1', pid: 4711 };

export function headOf(fields: Partial<RunHead> = {}): RunHead {
  return {
    command: 'inventory apply',
    env: 'staging',
    store: undefined,
    baseUrl: service,
    service,
    scope: 'abc',
    ...ann,
    unchanged: 0,
    ...fields,
  };
}

export function rowFor(petId: bigint, fields: Partial<PlannedRow> = {}): PlannedRow {
  return { row: 1, line: 1, petId, before: 5, after: 8, ...fields };
}

/** Returns one row for each pet, in this order. */
export function rowsFor(...petIds: readonly bigint[]): PlannedRow[] {
  return petIds.map((petId, index) => rowFor(petId, { row: index + 1, line: index + 1 }));
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
