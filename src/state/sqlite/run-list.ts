import type { RunFilter } from '../history.ts';
import type { Value } from './engine.ts';

/** Conditions of SQL, and their values. */
export interface Conditions {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** What of a filter the tables can answer; whether a process is at a run they can't. */
export function conditionsOf({ env, store, petId, since, until, state, by }: RunFilter): Conditions {
  const conditions: [string, Value][] = [];
  if (env !== undefined) conditions.push(['env = ?', env]);
  if (store !== undefined) conditions.push(['store IS ?', store]);
  if (petId !== undefined) conditions.push(['id IN (SELECT rows.run FROM rows WHERE rows.pet_id = ?)', petId]);
  if (since !== undefined) conditions.push(['at >= ?', since]);
  if (until !== undefined) conditions.push(['at <= ?', until]);
  if (by?.user !== undefined) conditions.push(['user = ?', by.user]);
  if (by?.host !== undefined) conditions.push(['host = ?', by.host]);
  const open = state === 'incomplete' ? ['pending + unknown > 0'] : state === 'done' ? ['pending + unknown = 0'] : [];
  const running = state === 'running' ? ['holder IS NOT NULL'] : [];
  return {
    sql: ['TRUE', ...open, ...running, ...conditions.map(([sql]) => sql)].join(' AND '),
    values: conditions.map(([, value]) => value),
  };
}
