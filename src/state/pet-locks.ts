import type { RecentWrite } from '../inventory/run-records.ts';
import { blockedBy, type ReadVersion } from './decide.ts';
import type { Busy } from './intents-and-outcomes.ts';
import { insertLeases, leasesIn, selectLeases, serviceByName } from './leases.ts';
import { aliveAmong } from './living-processes.ts';
import { recentOfPets, recentOfService, recentWritesIn } from './recent-writes.ts';
import type { StateContext } from './state-context.ts';
import {
  readWithoutLock,
  selectLast,
  type TransactionContext,
  type TransactionSteps,
  uniqueName,
  writeOnly,
} from './state-database.ts';
import { number, statement, text } from './statements.ts';

/** The read version and recent writes of some pets, taken right before their stock is read. */
export interface PetsBeforeRead {
  readonly readVersion: ReadVersion;
  /** Recent writes of the pets, the oldest first. A service with several replicas may not show them everywhere yet. */
  readonly writes: readonly RecentWrite[];
}

/**
 * Locks and leases of pets. The service has no compare-and-set, so a lease on (service, pet id) keeps writers of the
 * same state apart. A row takes its lease right before it is sent and returns it with its outcome.
 */
export class Pets {
  readonly #context: StateContext;

  constructor(context: StateContext) {
    this.#context = context;
  }

  /**
   * Returns the read version and the recent writes of pets. Call this before their stock is read.
   * @param petIds undefined for all pets of the service
   */
  async beginRead(service: string, petIds?: readonly bigint[]): Promise<PetsBeforeRead> {
    const { database, clock } = this.#context;
    // Taken before the query, because a request that may arrive after this time counts as later.
    const asked = clock.monotonic();
    return readWithoutLock(database, (at) => this.#loadBeforeRead(at, service, petIds, asked));
  }

  /**
   * Returns the time, by the monotonic clock, after which no request of a dead process can still reach any of these
   * pets; undefined if there is no such request. A stock read earlier may still change.
   * @param except a run whose own requests don't count
   */
  async inFlightUntil(
    service: string,
    petIds: Pick<ReadonlySet<bigint>, 'has'>,
    except?: string,
  ): Promise<number | undefined> {
    const { database } = this.#context;
    const find = () => readWithoutLock(database, (at) => this.#lastArrival(at, service, petIds, except));
    // A process that ended during the first search has released its leases, so only the second result counts.
    const until = (await find()) === undefined ? undefined : await find();
    return until === undefined ? undefined : database.time.localLatest(until);
  }

  /** Returns a lock for reading a pet's stock and then writing it. The pet is not locked before `tryAcquire`. */
  lock(service: string, petId: bigint): PetLock {
    return new PetLock(this.#context, service, petId);
  }

  *#loadBeforeRead(
    at: TransactionContext,
    service: string,
    petIds: readonly bigint[] | undefined,
    asked: number,
  ): TransactionSteps<PetsBeforeRead> {
    const { host } = this.#context.presence.processes.self;
    const [[row] = [], rows = []] = yield [selectLast, recentOfPets(at, service, petIds ?? [], host)];
    const writes = petIds === undefined ? yield* recentOfService(at, service, host) : recentWritesIn(at, rows);
    return { readVersion: { sequence: number(row?.last) ?? 0, at: asked }, writes };
  }

  *#lastArrival(
    at: TransactionContext,
    service: string,
    petIds: Pick<ReadonlySet<bigint>, 'has'>,
    except: string | undefined,
  ): TransactionSteps<number | undefined> {
    const [rows = []] = yield [statement(`${selectLeases} AND run IS NOT NULL AND expires IS NOT NULL`, service)];
    const wanted = rows.filter(({ pet, run }) => text(run) !== except && petIds.has(BigInt(String(pet))));
    const leases = yield* leasesIn(at, wanted, yield* aliveAmong(this.#context.presence, at, wanted));
    const open = [...leases.values()].flatMap(({ isHeld, inFlightUntil = 0 }) =>
      isHeld || inFlightUntil <= at.now ? [] : inFlightUntil,
    );
    return open.length === 0 ? undefined : Math.max(...open);
  }
}

type Entered = Pick<PetLock, 'seen'> & { readonly busy: Busy | undefined };

/** A fair lock on one pet (first come, first served), for a command that reads the pet's stock and then writes it. */
export class PetLock {
  readonly #context: StateContext;
  readonly #service: string;
  readonly petId: bigint;
  /** The id under which this lock owns its lease. */
  readonly owner = `place-${uniqueName()}`;
  /** The set for `Presence.retain`; empty, because a lock sends no requests itself. */
  readonly #outstanding: ReadonlySet<never> = new Set();
  #isTaken = false;
  #seen: PetsBeforeRead | undefined;

  constructor(context: StateContext, service: string, petId: bigint) {
    this.#context = context;
    this.#service = service;
    this.petId = petId;
  }

  /**
   * The read version and recent writes when the lock was acquired; undefined before that. While the lock is held, no
   * other command writes the pet's stock through this state.
   */
  get seen(): PetsBeforeRead | undefined {
    return this.#seen;
  }

  /**
   * Tries to take the lease. If another owner holds it or is ahead in the queue, joins the queue and returns who blocks
   * the pet. While `presence.hasLapsed`, only returns that the pet is busy. `RunLog.intend` takes the lease over.
   * @returns undefined if the lock was acquired
   */
  async tryAcquire(): Promise<Busy | undefined> {
    const { database, presence, clock } = this.#context;
    if (presence.hasLapsed) return { run: undefined, until: undefined };
    presence.retain(this.#outstanding);
    this.#isTaken = true;
    const asked = clock.monotonic();
    const { busy, seen } = await presence.hold('visible', this.#service, (at) => this.#acquireOrQueue(at, asked));
    this.#seen = seen;
    return busy?.until === undefined ? busy : { ...busy, until: database.time.localLatest(busy.until) };
  }

  /** Marks this lock as ended, without writing anything. Call this once a run has taken its lease over. */
  markEnded(): void {
    this.#isTaken = false;
    this.#context.presence.release(this.#outstanding);
  }

  /** Leaves the queue and returns the lease, unless a run has taken it over with `intend`. May be called again. */
  async release(): Promise<void> {
    if (!this.#isTaken) return;
    const sql = `DELETE FROM petstock.leases WHERE pet_id = ? AND service = ${serviceByName} AND owner = ?`;
    const writes = [deleteTicket(this.owner), statement(sql, this.petId, this.#service, this.owner)];
    await writeOnly(this.#context.database, this.#service, () => writes);
    this.markEnded();
  }

  /** Takes the lease of the pet for this lock, or joins the queue and returns who blocks the pet. */
  *#acquireOrQueue(at: TransactionContext, asked: number): TransactionSteps<Entered> {
    const { presence } = this.#context;
    const ofPet = `WHERE service = ${serviceByName} AND pet_id = ?`;
    const pet = [this.#service, this.petId] as const;
    const [[own] = [], leased = [], line = [], [meta] = [], recentRows = []] = yield [
      statement(`SELECT ${serviceByName} AS service`, this.#service),
      statement(`${selectLeases} AND pet_id = ?`, ...pet),
      statement(`SELECT ticket, place, holder FROM petstock.line ${ofPet} ORDER BY ticket`, ...pet),
      selectLast,
      recentOfPets(at, this.#service, [this.petId], presence.processes.self.host),
    ];
    const ownIndex = line.findIndex(({ place }) => place === this.owner);
    const before = ownIndex < 0 ? line : line.slice(0, ownIndex);
    const living = yield* aliveAmong(presence, at, [...before, ...leased]);
    const [lease] = (yield* leasesIn(at, leased, living)).values();
    // Removes the dead processes at the front of the queue.
    const firstAlive = before.findIndex(({ holder }) => living.has(String(holder)));
    const dead = firstAlive < 0 ? before : before.slice(0, firstAlive);
    at.writes.push(...dead.map(({ place }) => deleteTicket(String(place))));
    const other = blockedBy(lease, [this.owner], presence.id, at.now);
    const busy = other ?? (firstAlive < 0 ? undefined : { run: undefined, until: undefined });
    if (busy !== undefined) {
      // Joins at the end, perhaps again: another process has removed this lock from the queue if this process was
      // suspended for longer than its lease.
      if (ownIndex < 0) {
        const sql = `INSERT INTO petstock.line (place, service, pet_id, holder) VALUES (?, ${serviceByName}, ?, ?) ON CONFLICT (place) DO NOTHING`;
        at.writes.push(statement(sql, this.owner, ...pet, presence.id));
      }
      return { busy, seen: undefined };
    }
    const serviceId = number(own?.service) ?? 0;
    at.writes.push(insertLeases({ petIds: [this.petId], serviceId, owner: this.owner, holder: presence.id }));
    const readVersion = { sequence: number(meta?.last) ?? 0, at: asked };
    return { busy, seen: { readVersion, writes: recentWritesIn(at, recentRows) } };
  }
}

const deleteTicket = (place: string) => statement('DELETE FROM petstock.line WHERE place = ?', place);
