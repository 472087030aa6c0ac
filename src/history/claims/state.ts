import type { ClaimRecord } from './log.ts';

/** A place in the log, and what was under way there. */
export interface Mark {
  /** How many records had been read. */
  readonly position: number;
  /** Pets that others were writing then, each with one of them. */
  readonly underWay: ReadonlyMap<string, string>;
}

interface Claim {
  readonly by: string;
  /** Its place among all records. */
  readonly position: number;
}

/** What the log says about the claims of others. Pets are told by their ids in decimal. */
export class ClaimsState {
  readonly #own: string;
  #position = 0;
  /** Claims that are not done, by pet. */
  readonly #open = new Map<string, Claim[]>();
  /** The last claim on each pet that is done. */
  readonly #done = new Map<string, Claim>();
  /** Our own open claims: where the first on each pet stands. */
  readonly #mine = new Map<string, number>();
  /** Others who have the log open. */
  readonly #present = new Set<string>();

  /** @param own who we are in the log */
  constructor(own: string) {
    this.#own = own;
  }

  fold(record: ClaimRecord): void {
    this.#position += 1;
    const { by } = record;
    if (by === this.#own) this.#foldOwn(record);
    else if (record.type === 'open') this.#present.add(by);
    else if (record.type === 'close') this.#leave(by);
    else if (record.type === 'claim') this.#claim(record.petId, { by, position: this.#position });
    else if (record.type === 'done') this.#finish(record.petId, by);
    else if (record.type === 'withdraw') this.#take(record.petId, by);
  }

  /** @param isAlive whether a claimer may be at it still: what a dead one was sending is taken for over */
  mark(isAlive: (by: string) => boolean): Mark {
    const underWay = new Map<string, string>();
    for (const [petId, claims] of this.#open) {
      const claim = claims.find(({ by }) => isAlive(by));
      if (claim !== undefined) underWay.set(petId, claim.by);
    }
    return { position: this.#position, underWay };
  }

  /** Somebody else who writes, or has or may have written, this pet since the mark. */
  rival(petId: string, since: Mark): string | undefined {
    const claims = [this.#done.get(petId), ...(this.#open.get(petId) ?? [])];
    const later = claims.find((claim) => claim !== undefined && claim.position > since.position);
    return since.underWay.get(petId) ?? later?.by;
  }

  /** Somebody else is at this pet who may be alive, and has claimed it before us. */
  waitsFor(petId: string, isAlive: (by: string) => boolean): boolean {
    const own = this.#mine.get(petId) ?? Number.POSITIVE_INFINITY;
    return this.#open.get(petId)?.some(({ by, position }) => position < own && isAlive(by)) ?? false;
  }

  /** Others who have the log open, as far as they have not died. */
  hasCompany(isAlive: (by: string) => boolean): boolean {
    return [...this.#present].some(isAlive);
  }

  #foldOwn(record: ClaimRecord): void {
    if (record.type === 'claim') this.#mine.set(record.petId, this.#mine.get(record.petId) ?? this.#position);
    if (record.type === 'done' || record.type === 'withdraw') this.#mine.delete(record.petId);
  }

  #claim(petId: string, claim: Claim): void {
    this.#open.set(petId, [...(this.#open.get(petId) ?? []), claim]);
  }

  /** Takes away the last open claim of a claimer. */
  #take(petId: string, by: string): Claim | undefined {
    const claims = this.#open.get(petId) ?? [];
    const last = claims.findLast((claim) => claim.by === by);
    const others = claims.filter((claim) => claim !== last);
    if (others.length > 0) this.#open.set(petId, others);
    else this.#open.delete(petId);
    return last;
  }

  /** Ends all claims of a claimer on a pet: it may have claimed it again. */
  #finish(petId: string, by: string): void {
    for (let claim = this.#take(petId, by); claim !== undefined; claim = this.#take(petId, by)) {
      if (claim.position > (this.#done.get(petId)?.position ?? 0)) this.#done.set(petId, claim);
    }
  }

  /** What it has left open it may have written; it will not go on with it. */
  #leave(by: string): void {
    this.#present.delete(by);
    for (const [petId, claims] of this.#open) {
      if (claims.some((claim) => claim.by === by)) this.#finish(petId, by);
    }
  }
}
