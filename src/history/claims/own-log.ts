import { type ClaimsFiles, openLatest, removeOld } from './files.ts';
import type { ClaimRecord, ClaimsLog } from './log.ts';
import type { ClaimsState, Mark } from './state.ts';

export interface OwnLogOptions {
  readonly files: ClaimsFiles;
  /** Who we are in the log. */
  readonly own: string;
  /** Told all that is read. */
  readonly state: ClaimsState;
  /** Bytes after which a log that nobody else has open is left behind. */
  readonly sealAt: number;
  isAlive(by: string): boolean;
}

/**
 * The log of claims as one process uses it: it says there that it has come and that it goes, and follows to the next
 * generation. A log is sealed only while nobody else has it open: so nobody is waiting for anything that is in it, and
 * the next one begins with nothing. Whoever comes while it is being sealed is there before the seal, which then does
 * not hold, or finds the seal and goes on behind it.
 */
export class OwnLog {
  readonly #options: OwnLogOptions;
  #log: ClaimsLog;
  /** Our open claims: where the log was removed, or sealed by one who took us for dead, they go along. */
  readonly #mine = new Set<string>();
  /** Our records that have not been read back. */
  #unread = 0;
  #asked: { readonly petIds: ReadonlySet<string>; readonly since: Mark | undefined } | undefined;
  /** Of the pets that were asked for: who was there before us. */
  readonly #rivals = new Map<string, string>();

  /** @throws where the log can't be opened or written */
  constructor(options: OwnLogOptions) {
    this.#options = options;
    this.#log = openLatest(options.files);
    this.#enter();
  }

  /** Takes in what others have written. */
  refresh(): void {
    this.#readOn();
  }

  /** @returns of each pet that others write, or have written since the mark, who does; these claims are withdrawn */
  claim(petIds: readonly string[], since: Mark | undefined): ReadonlyMap<string, string> {
    this.#asked = { petIds: new Set(petIds), since };
    this.#rivals.clear();
    const by = this.#options.own;
    do this.#append(petIds.map((petId) => ({ type: 'claim', by, petId })));
    while (!this.#readOn());
    this.#asked = undefined;
    if (this.#unread > 0) throw new Error('a record could not be written whole');
    for (const petId of petIds) if (!this.#rivals.has(petId)) this.#mine.add(petId);
    this.#append([...this.#rivals.keys()].map((petId) => ({ type: 'withdraw', by, petId })));
    return new Map(this.#rivals);
  }

  end(type: 'done' | 'withdraw', petIds: readonly string[]): void {
    for (const petId of petIds) this.#mine.delete(petId);
    this.#append(petIds.map((petId) => ({ type, by: this.#options.own, petId })));
  }

  leave(): void {
    this.#append([{ type: 'close', by: this.#options.own }]);
    if (this.#readOn() && this.#seal()) openLatest(this.#options.files, this.#log.generation + 1).close();
    this.#log.close();
  }

  /** After a failure: nothing more is written. */
  abandon(): void {
    this.#log.close();
  }

  #enter(): void {
    const { files, own } = this.#options;
    this.#unread = 0;
    const { isNew } = this.#log;
    const claims = [...this.#mine].map((petId) => ({ type: 'claim', by: own, petId }) as const);
    this.#append([{ type: 'open', by: own }, ...claims]);
    if (isNew) removeOld(files, this.#log);
    if (this.#readOn() && !isNew && this.#seal()) this.#follow();
  }

  #follow(generation = this.#log.generation + 1): void {
    const next = openLatest(this.#options.files, generation);
    this.#log.close();
    this.#log = next;
    this.#enter();
  }

  /** @returns false where it had to go to another log; what was written last may be in the one before */
  #readOn(): boolean {
    const isSealed = this.#read();
    if (isSealed) this.#follow();
    else if (this.#log.isRemoved) this.#follow(1);
    else return true;
    return false;
  }

  /** @returns whether the log is sealed */
  #read(): boolean {
    const { own, state } = this.#options;
    return this.#log.read((record) => {
      if (record.by === own) this.#unread -= 1;
      if (record.by === own && record.type === 'claim') this.#judge(record.petId);
      state.fold(record);
    });
  }

  /** What stands before our claim counts, and nothing behind it. */
  #judge(petId: string): void {
    const { petIds, since } = this.#asked ?? {};
    const rival = since !== undefined && petIds?.has(petId) ? this.#options.state.rival(petId, since) : undefined;
    if (rival === undefined) this.#rivals.delete(petId);
    else this.#rivals.set(petId, rival);
  }

  /** @returns whether it was large, nobody else had it open, and nobody came in between */
  #seal(): boolean {
    const { own, state, sealAt, isAlive } = this.#options;
    if (this.#log.position <= sealAt || state.hasCompany(isAlive)) return false;
    this.#append([{ type: 'seal', by: own, at: this.#log.position }]);
    return this.#read();
  }

  #append(records: readonly ClaimRecord[]): void {
    if (records.length > 0) this.#log.append(records);
    this.#unread += records.length;
  }
}
