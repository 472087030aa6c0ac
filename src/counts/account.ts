import { createHash } from 'node:crypto';
import { type BarCodes, joinBarCodes, petOfCode } from '../inventory/bar-codes.ts';
import { petIdOfCode, withoutCodeKind } from '../inventory/count/scan-line.ts';
import { type CountStep, Tally } from '../inventory/count/tally.ts';
import { record, type ScanRecord, type SessionContent } from './session-tables.ts';

/** Returns the pet that a code currently means. */
type PetOf = (code: string) => bigint | undefined;

/** The balance of a session: units counted, units that runs and files took over, and units still to be written. */
export class Account {
  /** Counts still to be written, and units of unknown codes. */
  readonly tally = new Tally();
  /** Pets whose count was written. Units counted since then are added to the stock. */
  readonly written = new Set<bigint>();
  /** The stock of each pet when its count began, if known. */
  readonly seen = new Map<bigint, number>();
  /** Units that a run or file is about to take, by pet. Only the history shows whether the run has begun. */
  readonly handedOver = new Map<bigint, number>();
  /** How many runs and files have taken units. */
  runs = 0;
  /** The last run that has taken units. */
  run: string | undefined;
  /** Whether units that the last run did not write are back in the session. */
  isSettled = true;

  constructor(
    private readonly codes: BarCodes,
    private readonly petOf: PetOf,
    /** Pets whose units were given to a run or file. Later scans of their ids still mean these pets. */
    private readonly given: ReadonlySet<bigint>,
  ) {}

  /** Whether nothing is left to write or to clarify. */
  get isEmpty(): boolean {
    return this.tally.isEmpty && this.handedOver.size === 0;
  }

  /** @returns the change; undefined if there was nothing to cancel, and for records that are not scans */
  apply(scan: ScanRecord): CountStep | undefined {
    const { kind, units, code, pet = 0n } = scan;
    switch (kind) {
      case 'add':
      case 'set':
      case 'base': {
        const what = this.petOfScan(scan) ?? code;
        if (kind === 'set' && typeof what === 'bigint') this.written.delete(what);
        return this.tally[kind](what, units);
      }
      case 'back':
        return this.tally.cancelLast();
      case 'seen':
        this.seen.set(pet, units);
        break;
      case 'given':
        this.handedOver.set(pet, units);
        this.tally.reduceTo(pet, this.tally.unitsOf(pet) - units);
        break;
      case 'run':
        for (const petId of this.handedOver.keys()) this.written.add(petId);
        this.handedOver.clear();
        this.runs += 1;
        this.run = code || this.run;
        this.isSettled = false;
        break;
      case 'again':
        this.written.delete(pet);
        this.seen.delete(pet);
        this.tally.reduceTo(pet, 0);
        break;
      case 'settled':
        // `handedOver` has units only if no `run` record came after `given`: that run never began.
        for (const [petId, left] of this.handedOver) this.tally.base(petId, left);
        this.handedOver.clear();
        this.isSettled = true;
        break;
      case 'code':
        break;
    }
    return undefined;
  }

  /**
   * Returns the pet of a scan. A code takes precedence over an equal id, even if the code became known later, but not
   * once units of that pet were given to a run or file.
   */
  petOfScan({ code, pet }: ScanRecord): bigint | undefined {
    if (pet === undefined) return this.petOf(code);
    const isOwnId = petIdOfCode(withoutCodeKind(code) ?? code) === pet && !this.given.has(pet);
    return isOwnId && petOfCode(this.codes, code) !== undefined ? this.petOf(code) : pet;
  }
}

/** Returns the bar codes of a session, including those that were assigned while counting. */
export function codesOf({ codes, scans }: Pick<SessionContent, 'codes' | 'scans'>): BarCodes {
  const assigned = assignedCodes(scans);
  return assigned.size === 0 ? codes : { ...codes, pets: new Map([...codes.pets, ...assigned]) };
}

/** Returns the codes that were assigned while counting, with their pets. */
export function assignedCodes(scans: readonly ScanRecord[]): ReadonlyMap<string, bigint> {
  const assigned = new Map<string, bigint>();
  for (const { kind, code, pet } of scans) {
    if (kind !== 'code') continue;
    if (pet === undefined) assigned.delete(code);
    else assigned.set(code, pet);
  }
  return assigned;
}

/** @param petOf returns the pet of a code that was unknown when scanned; by default, by the codes of the session */
export function accountOf(session: Pick<SessionContent, 'codes' | 'scans'>, petOf?: PetOf): Account {
  const codes = codesOf(session);
  const given = new Set(session.scans.flatMap(({ kind, pet }) => (kind === 'given' && pet !== undefined ? pet : [])));
  const account = new Account(codes, petOf ?? ((code) => petOfCode(codes, code)), given);
  for (const scan of session.scans) account.apply(scan);
  return account;
}

/**
 * Returns records for the codes whose pet became known only after they were scanned. Once units of that pet are
 * written, such a code keeps the pet.
 */
export function boundCodes({ scans }: Pick<SessionContent, 'scans'>, account: Account): ScanRecord[] {
  const bound = new Map<string, bigint>();
  for (const scan of scans) {
    const pet = scan.kind === 'add' || scan.kind === 'set' || scan.kind === 'base' ? account.petOfScan(scan) : scan.pet;
    if (pet !== undefined && pet !== scan.pet) bound.set(scan.code, pet);
  }
  return Array.from(bound, ([code, pet]) => record('code', { code, pet }));
}

/** Reports whether a part of a session was already written, so that missing pets may be in that part. */
export function isPartial(session: SessionContent): boolean {
  return accountOf(session).runs > 0;
}

/**
 * Returns a session that begins with the sum of the counts of `sources`, and records which pets were already written.
 * @param codes undefined to use those of the sources
 */
export function mergedOf(sources: readonly SessionContent[], codes: BarCodes | undefined): SessionContent {
  const [first] = sources;
  if (first === undefined) throw new Error('nothing to merge');
  const all = codes ?? joinBarCodes(sources.map(codesOf));
  const accounts = sources.map(({ scans }) => accountOf({ scans, codes: all }));
  const scans: ScanRecord[] = [];
  for (const { written } of accounts) for (const pet of written) scans.push(record('given', { pet }));
  if (sources.some(isPartial)) scans.push(record('run'), record('settled'));
  // If several sources have seen a pet's stock, the first source's records are added last, so that they count.
  for (const { seen } of accounts.toReversed()) {
    for (const [pet, units] of seen) scans.push(record('seen', { pet, units }));
  }
  const tally = new Tally();
  for (const account of accounts) {
    for (const [what, units] of [...account.tally.counts(), ...account.tally.unknowns()]) tally.base(what, units);
  }
  const byCode = new Set(sources.flatMap((source) => source.scans.filter(isOfCode).map(({ pet }) => pet)));
  for (const [what, units] of [...tally.counts(), ...tally.unknowns()]) {
    const pet = typeof what === 'bigint' ? what : undefined;
    scans.push(record('base', { units, code: byCode.has(pet) ? '' : `${what}`, pet }));
  }
  return { head: first.head, codes: all, scans };
}

/** Reports whether the pet of a scan was known by a bar code. An id alone may be a code that is still unknown. */
function isOfCode({ code, pet }: ScanRecord): boolean {
  return pet !== undefined && code !== `${pet}`;
}

/**
 * Returns a hash that identifies the next run of a session, so that a crash after its start can't cause a second run.
 */
export function hashOf(session: SessionContent): string {
  const { runs } = accountOf(session);
  const name = `inventory count ${session.head.session}${runs === 0 ? '' : ` ${runs}`}`;
  return createHash('sha256').update(name).digest('hex');
}
