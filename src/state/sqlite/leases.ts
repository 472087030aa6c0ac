import { isSameBoot } from '../../rate-limit/key-state.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Busy } from '../pets.ts';
import type { Connection } from './connection.ts';
import type { SqlitePresence } from './sqlite-presence.ts';

/** What the parts of one open state share. */
export interface Shared {
  readonly connection: Connection;
  readonly presence: SqlitePresence;
  readonly clock: Clock;
  /** A number in [0, 1). */
  random(): number;
}

/** A pet at a service, by the number that the state has given the service. */
export interface PetKey {
  readonly service: number;
  readonly petId: bigint;
}

export interface Lease {
  readonly owner: string;
  /** The id of a run. */
  readonly run: string | undefined;
  readonly holder: number;
  /** Until when a request of it may be on its way, by the monotonic clock; undefined before the first intent. */
  readonly expires: number | undefined;
}

/** Inside a transaction. @returns the number of a service, which is given one where it has none */
export function serviceNumber(connection: Connection, service: string): number {
  const found = findService(connection, service);
  return found ?? connection.insert('INSERT INTO services (name) VALUES (?)', service);
}

export function findService(connection: Connection, service: string): number | undefined {
  return connection.get('SELECT id FROM services WHERE name = ?', service)?.id as number | undefined;
}

/**
 * Inside a transaction.
 * @param owners whose lease is not in the way
 * @returns who is at a pet; undefined where it is free, or has one of the owners
 */
export function busyWith(shared: Shared, pet: PetKey, holder: number, owners: readonly string[]): Busy | undefined {
  const { connection, presence, clock } = shared;
  const row = connection.get(
    'SELECT owner, run, holder, boot, expires FROM leases WHERE pet_id = ? AND service = ?',
    pet.petId,
    pet.service,
  );
  if (row === undefined) return undefined;
  const run = row.run === null ? undefined : String(row.run);
  const until = unexpired(clock, row.boot, row.expires);
  if (owners.includes(String(row.owner))) {
    // A run that was taken over: what the process before has sent may still arrive.
    const isOurs = row.holder === null || row.holder === holder;
    return isOurs || until === undefined ? undefined : { run, until };
  }
  if (row.holder !== null && presence.isAlive(Number(row.holder))) return { run, until: undefined };
  return until === undefined ? undefined : { run, until };
}

/** Inside a transaction. Takes the lease, even from another process. */
export function takeLease({ connection, clock }: Shared, { service, petId }: PetKey, lease: Lease): void {
  connection.run(
    'INSERT OR REPLACE INTO leases (pet_id, service, owner, run, holder, boot, expires) VALUES (?, ?, ?, ?, ?, ?, ?)',
    petId,
    service,
    lease.owner,
    lease.run ?? null,
    lease.holder,
    clock.boot(),
    lease.expires ?? null,
  );
}

/** Inside a transaction. */
export function giveBackLease({ connection }: Shared, { service, petId }: PetKey, owner: string): void {
  connection.run('DELETE FROM leases WHERE pet_id = ? AND service = ? AND owner = ?', petId, service, owner);
}

/** Inside a transaction. From now on only a request that may be on its way keeps the pet busy. */
export function leaveLeaseToRequest({ connection }: Shared, { service, petId }: PetKey, owner: string): void {
  connection.run(
    'UPDATE leases SET holder = NULL WHERE pet_id = ? AND service = ? AND owner = ?',
    petId,
    service,
    owner,
  );
}

/** @returns a time of this boot that has not come yet; undefined for any other. @param at by the monotonic clock; default now */
export function unexpired(clock: Clock, boot: unknown, expires: unknown, at?: number): number | undefined {
  if (typeof expires !== 'number' || !isSameBoot(String(boot), clock.boot())) return undefined;
  return expires > (at ?? clock.monotonic()) ? expires : undefined;
}
