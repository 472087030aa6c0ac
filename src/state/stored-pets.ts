import { busyWith } from './decide.ts';
import { leaseIn, takingLeases } from './intend-rows.ts';
import type { Busy, Mark } from './pets.ts';
import type { Presence } from './processes-present.ts';
import {
  justWrites,
  look,
  type Moment,
  number,
  type Statement,
  type StoreContext,
  statement,
  text,
  uniqueName,
  type Work,
} from './store.ts';
import { endsOf, keptTime } from './times.ts';

type PetsContext = StoreContext & { readonly presence: Presence };

/** A mark that was taken with a lease is as good as one that is asked for, for so many milliseconds. */
const freshFor = 250;

const serviceByName = '(SELECT id FROM petstock.services WHERE name = ?)';

/**
 * Who may write which pet. The service has no compare-and-set, so a write is kept apart from others of the same state by a
 * lease on (service, petId), taken when the row is about to leave and given back with its outcome.
 */
export class Pets {
  readonly #context: PetsContext;
  /** The mark of the last place that was entered: nobody else of this state writes its pet from then on. */
  #entered: Mark | undefined;

  constructor(context: PetsContext) {
    this.#context = context;
  }

  /** A moment in the order of all writes; to be taken before the stock is read. */
  async mark(): Promise<Mark> {
    const { store, clock } = this.#context;
    // Before it is asked: a request that could arrive after that counts as later.
    const at = clock.monotonic();
    const entered = this.#entered;
    this.#entered = undefined;
    if (entered !== undefined && at - entered.at <= freshFor) return entered;
    const [[row] = []] = await store.ask(statement('SELECT last FROM petstock.sequence'));
    return { sequence: number(row?.last) ?? 0, at };
  }

  /**
   * When the last request of a process that is gone can't be on its way to one of these pets any more: a stock that is read
   * before may still change by what this state has sent.
   * @param except a run whose own requests don't count
   * @returns by the monotonic clock; undefined where there can be no such request
   */
  async arrivesUntil(
    service: string,
    petIds: Pick<ReadonlySet<bigint>, 'has'>,
    except?: string,
  ): Promise<number | undefined> {
    const { store } = this.#context;
    await store.align();
    const until = await look(store, (at) => this.#arriving(at, service, petIds, except));
    return until === undefined ? undefined : store.time.localLatest(until);
  }

  /**
   * A place in the line of those who want to read a pet and write what depends on it: first come, first served. Nothing is
   * held until `enter` has succeeded, so a wait for the rate limit before that blocks no one.
   */
  async line(service: string, petId: bigint): Promise<Place> {
    const { presence } = this.#context;
    const place = new Place(this.#context, service, petId, (mark) => {
      this.#entered = mark;
    });
    await presence.hold('quick', service, justWrites([standing(place.owner, service, petId, presence.id)]));
    return place;
  }

  *#arriving(
    at: Moment,
    service: string,
    petIds: Pick<ReadonlySet<bigint>, 'has'>,
    except: string | undefined,
  ): Work<number | undefined> {
    const { presence } = this.#context;
    const [leases = []] = yield [
      statement(
        `SELECT CAST(pet_id AS TEXT) AS pet_id, run, holder, boot, expires, lasts FROM petstock.leases
         WHERE service = ${serviceByName} AND run IS NOT NULL AND expires IS NOT NULL`,
        service,
      ),
    ];
    const wanted = leases.filter(({ pet_id, run }) => text(run) !== except && petIds.has(BigInt(String(pet_id))));
    const living = yield* presence.aliveAmong(
      at,
      wanted.flatMap(({ holder }) => text(holder) ?? []),
    );
    const ends = yield* endsOf(at, wanted.map(keptTime));
    const orphaned = wanted.filter(({ holder }) => holder === null || !living.has(String(holder)));
    const open = orphaned.map((row) => ends.of(keptTime(row)) ?? 0).filter((end) => end > at.now);
    return open.length === 0 ? undefined : Math.max(...open);
  }
}

export class Place {
  readonly #context: PetsContext;
  readonly #service: string;
  readonly petId: bigint;
  /** The owner of its lease. */
  readonly owner = `place-${uniqueName()}`;
  #hasLeft = false;

  readonly #onEnter: (mark: Mark) => void;

  /** @param onEnter is given a mark when the place has the lease */
  constructor(context: PetsContext, service: string, petId: bigint, onEnter: (mark: Mark) => void) {
    this.#context = context;
    this.#onEnter = onEnter;
    this.#service = service;
    this.petId = petId;
  }

  /**
   * Takes the lease, or says who has it or stands before us. `RunLog.intend` with this place then uses it.
   * @returns undefined where the pet is ours
   */
  async enter(): Promise<Busy | undefined> {
    const { store, presence, clock } = this.#context;
    if (presence.isStale) return { run: undefined, until: undefined };
    const at = clock.monotonic();
    const { busy, sequence } = await presence.hold('quick', this.#service, (moment) => this.#entering(moment));
    if (busy === undefined) this.#onEnter({ sequence, at });
    return busy?.until === undefined ? busy : { ...busy, until: store.time.localLatest(busy.until) };
  }

  /** A run has taken the lease over, and the place in the line is given up. */
  handOver(): void {
    this.#hasLeft = true;
  }

  /** Gives back place and lease; a lease that a run has taken over with `intend` is the run's. May be called again. */
  async leave(): Promise<void> {
    if (this.#hasLeft) return;
    const writes = [
      statement('DELETE FROM petstock.line WHERE place = ?', this.owner),
      statement(
        `DELETE FROM petstock.leases WHERE pet_id = ? AND service = ${serviceByName} AND owner = ?`,
        this.petId,
        this.#service,
        this.owner,
      ),
    ];
    await this.#context.store.transact('quick', this.#service, justWrites(writes));
    this.#hasLeft = true;
  }

  /** Takes the lease of the pet for the place, or finds who has it or is before it in the line. */
  *#entering(at: Moment): Work<{ readonly busy: Busy | undefined; readonly sequence: number }> {
    const { presence } = this.#context;
    const ofPet = [this.#service, this.petId] as const;
    const [[own] = [], [lease] = [], line = [], [meta] = []] = yield [
      statement(`SELECT ${serviceByName} AS service`, this.#service),
      statement(
        `SELECT owner, run, holder, boot, expires, lasts FROM petstock.leases WHERE service = ${serviceByName} AND pet_id = ?`,
        ...ofPet,
      ),
      statement(
        `SELECT ticket, place, holder FROM petstock.line WHERE service = ${serviceByName} AND pet_id = ? ORDER BY ticket`,
        ...ofPet,
      ),
      statement('SELECT last FROM petstock.sequence'),
    ];
    const sequence = number(meta?.last) ?? 0;
    const ownIndex = line.findIndex(({ place }) => place === this.owner);
    const before = ownIndex < 0 ? line : line.slice(0, ownIndex);
    const holders = [...before, ...(lease === undefined ? [] : [lease])].flatMap(({ holder }) => text(holder) ?? []);
    const living = yield* presence.aliveAmong(at, holders);
    const ends = yield* endsOf(at, [lease && keptTime(lease)]);
    // A process that was away for longer than its lease was taken for dead, and goes to the end of the line.
    if (ownIndex < 0) at.writes.push(standing(this.owner, this.#service, this.petId, presence.id));
    const busy = busyWith(leaseIn(lease, living, ends), [this.owner], presence.id, at.now);
    if (busy !== undefined) return { busy, sequence };
    const firstAlive = before.findIndex(({ holder }) => living.has(String(holder)));
    // The dead before us leave the line, which nothing else does.
    const dead = firstAlive < 0 ? before : before.slice(0, firstAlive);
    at.writes.push(...dead.map(({ place }) => leaving(String(place))));
    if (firstAlive >= 0) return { busy: { run: undefined, until: undefined }, sequence };
    const taken = {
      petId: this.petId,
      service: number(own?.service) ?? 0,
      owner: this.owner,
      run: null,
      holder: presence.id,
    };
    at.writes.push(...takingLeases([{ ...taken, boot: null, expires: null, lasts: null }]));
    return { busy: undefined, sequence };
  }
}

const leaving = (place: string): Statement => statement('DELETE FROM petstock.line WHERE place = ?', place);

function standing(place: string, service: string, petId: bigint, holder: string): Statement {
  return statement(
    `INSERT INTO petstock.line (place, service, pet_id, holder) VALUES (?, ${serviceByName}, ?, ?) ON CONFLICT (place) DO NOTHING`,
    ...[place, service, petId, holder],
  );
}
