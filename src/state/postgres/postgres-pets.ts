import { randomUUID } from 'node:crypto';
import type { Busy, Mark, Pets, Place } from '../pets.ts';
import type { Answer } from './connection.ts';
import { holderIn } from './holder.ts';
import { busyIn, type Shared } from './shared.ts';

export class PostgresPets implements Pets {
  readonly #shared: Shared;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  async mark(): Promise<Mark> {
    const { connection, clock } = this.#shared;
    // Before it is asked: a request that could arrive after that counts as later.
    const at = clock.monotonic();
    const [row] = await connection.read(
      'SELECT (CASE WHEN is_called THEN last_value ELSE 0 END)::text AS last FROM petstock.writes',
    );
    return { sequence: Number(row?.last), at };
  }

  async arrivesUntil(
    service: string,
    petIds: Pick<ReadonlySet<bigint>, 'has'>,
    except?: string,
  ): Promise<number | undefined> {
    const { connection, presence } = this.#shared;
    await connection.align();
    const rows = await connection.read(
      `SELECT leases.pet_id::text, leases.run, leases.expires, presence.identity
       FROM petstock.leases JOIN petstock.services ON services.id = leases.service
       LEFT JOIN petstock.presence ON presence.id = leases.holder AND presence.expires > petstock.now_ms()
       WHERE services.name = $1 AND leases.run IS NOT NULL AND leases.expires > petstock.now_ms()`,
      service,
    );
    const ends = rows
      .filter(({ pet_id, run }) => run !== except && petIds.has(BigInt(String(pet_id))))
      .filter((row) => !presence.isRunning(row))
      .map(({ expires }) => connection.time.localLatest(Number(expires)));
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  async line(service: string, petId: bigint): Promise<Place> {
    const { connection, presence } = this.#shared;
    const place = new PostgresPlace(this.#shared, service, petId);
    await presence.hold(() => connection.call('stand_in_line', presence.me, service, petId, place.owner));
    return place;
  }
}

export class PostgresPlace implements Place {
  readonly #shared: Shared;
  readonly #service: string;
  readonly petId: bigint;
  /** The owner of its lease. */
  readonly owner = `place-${randomUUID()}`;
  #hasLeft = false;

  constructor(shared: Shared, service: string, petId: bigint) {
    this.#shared = shared;
    this.#service = service;
    this.petId = petId;
  }

  async enter(): Promise<Busy | undefined> {
    const { connection, presence } = this.#shared;
    if (presence.isStale) return { run: undefined, until: undefined };
    const busyOf = ({ busy }: Answer) => (busy ?? undefined) as Answer | undefined;
    const answer = await presence.hold(
      () => connection.call('enter', presence.me, this.#service, this.petId, this.owner),
      (given) => [holderIn(busyOf(given))],
    );
    const busy = busyOf(answer);
    return busy && busyIn(this.#shared, busy);
  }

  async leave(): Promise<void> {
    if (this.#hasLeft) return;
    await this.#shared.connection.call('leave', this.#service, this.petId, this.owner);
    this.#hasLeft = true;
  }
}
