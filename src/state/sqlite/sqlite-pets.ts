import type { Busy, Mark, Pets, Place } from '../pets.ts';
import {
  busyWith,
  findService,
  giveBackLease,
  type PetKey,
  type Shared,
  serviceNumber,
  takeLease,
  unexpired,
} from './leases.ts';
import { patiently } from './patiently.ts';
import { lastSequence } from './sequence.ts';

export class SqlitePets implements Pets {
  readonly #shared: Shared;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  async mark(): Promise<Mark> {
    const { connection, clock } = this.#shared;
    const at = clock.monotonic();
    return { sequence: lastSequence(connection), at };
  }

  async arrivesUntil(
    service: string,
    petIds: Pick<ReadonlySet<bigint>, 'has'>,
    except?: string,
  ): Promise<number | undefined> {
    const { connection, presence, clock } = this.#shared;
    const number = findService(connection, service);
    if (number === undefined) return undefined;
    const leases = connection.all(
      'SELECT CAST(pet_id AS TEXT) AS pet_id, run, holder, boot, expires FROM leases WHERE service = ? AND run IS NOT NULL',
      number,
    );
    const ends = leases
      .filter(({ pet_id, run }) => run !== except && petIds.has(BigInt(String(pet_id))))
      .filter(({ holder }) => holder === null || !presence.isAlive(Number(holder)))
      .flatMap(({ boot, expires }) => unexpired(clock, boot, expires) ?? []);
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  async line(service: string, petId: bigint): Promise<Place> {
    const { connection, presence } = this.#shared;
    const stand = (holder: number) => {
      const pet = { service: serviceNumber(connection, service), petId };
      return new SqlitePlace(this.#shared, pet, standInLine(this.#shared, pet, holder));
    };
    return patiently(this.#shared, () => presence.hold('quick', stand));
  }
}

export class SqlitePlace implements Place {
  readonly #shared: Shared;
  readonly #pet: PetKey;
  /** The owner of its lease. */
  readonly owner: string;
  #ticket: number;
  #hasLeft = false;

  constructor(shared: Shared, pet: PetKey, ticket: number) {
    this.#shared = shared;
    this.#pet = pet;
    this.#ticket = ticket;
    this.owner = `place-${ticket}`;
  }

  get petId(): bigint {
    return this.#pet.petId;
  }

  async enter(): Promise<Busy | undefined> {
    return patiently(this.#shared, () => this.#enter());
  }

  #enter(): Busy | undefined {
    const { presence } = this.#shared;
    if (presence.isStale) return { run: undefined, until: undefined };
    return presence.hold('quick', (holder) => {
      const busy = busyWith(this.#shared, this.#pet, holder, [this.owner]) ?? this.#standsBefore(holder);
      if (busy !== undefined) return busy;
      const { owner } = this;
      takeLease(this.#shared, this.#pet, { owner, run: undefined, holder, expires: undefined });
      return undefined;
    });
  }

  async leave(): Promise<void> {
    if (this.#hasLeft) return;
    const { connection } = this.#shared;
    const giveBack = () => {
      connection.run('DELETE FROM line WHERE ticket = ?', this.#ticket);
      giveBackLease(this.#shared, this.#pet, this.owner);
    };
    await patiently(this.#shared, () => connection.quick(giveBack));
    this.#hasLeft = true;
  }

  /** Inside a transaction. Removes the dead, which nothing else does. */
  #standsBefore(holder: number): Busy | undefined {
    const { connection, presence } = this.#shared;
    const { petId, service } = this.#pet;
    const sql = 'SELECT ticket, holder FROM line WHERE pet_id = ? AND service = ? ORDER BY ticket';
    const line = connection.all(sql, petId, service);
    // A process that was away for longer than its lease was taken for dead, and goes to the end of the line.
    if (!line.some(({ ticket }) => ticket === this.#ticket)) {
      this.#ticket = standInLine(this.#shared, this.#pet, holder);
    }
    for (const { ticket, holder: other } of line) {
      if (Number(ticket) >= this.#ticket) break;
      if (presence.isAlive(Number(other))) return { run: undefined, until: undefined };
      connection.run('DELETE FROM line WHERE ticket = ?', ticket as number);
    }
    return undefined;
  }
}

/** Inside a transaction. @returns the number of the place */
function standInLine({ connection }: Shared, { service, petId }: PetKey, holder: number): number {
  const sql = 'INSERT INTO line (service, pet_id, holder) VALUES (?, ?, ?)';
  return connection.insert(sql, service, petId, holder);
}
