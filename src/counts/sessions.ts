import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Tally } from '../inventory/count/tally.ts';
import { createFileAtomically } from '../shared/atomic-file.ts';
import { FailureError, NotFoundError, UsageError } from '../shared/errors.ts';
import { requirePrivateFile } from '../shared/private-file.ts';
import { makePrivateFolder } from '../shared/private-folder.ts';
import type { ProcessIdentity } from '../shared/processes.ts';
import { finishedName, holderOf, type ReadSession, readSession, unfinishedName } from './read-session.ts';
import {
  applyRecord,
  recordText,
  type ScanRecord,
  type SessionEnd,
  type SessionHead,
  type SessionRecord,
} from './records.ts';
import { SessionLog, type SessionSystem } from './session-log.ts';

export interface SessionsOptions extends SessionSystem {
  /** The state folder; sessions are in `counts` below it. */
  readonly folder: string;
  /** A number in [0, 1). */
  random(): number;
}

/** A session as it stands. */
export interface SessionFacts extends ReadSession {
  /** The process that is at it. */
  readonly holder: ProcessIdentity | undefined;
}

export interface SessionList {
  /** The newest first. */
  readonly found: readonly SessionFacts[];
  /** Why a file can't be read, which each names. */
  readonly unreadable: readonly FailureError[];
}

const hint = 'petstock inventory count --list';

/** The sessions of stock-takes on this machine: a file each, to which lines are only ever added. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #folder: string;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#folder = join(options.folder, 'counts');
  }

  /** @param all those that are finished, too */
  list(all: boolean): SessionList {
    const names = this.#names().filter((name) => all || name.endsWith(unfinishedName));
    const found: SessionFacts[] = [];
    const unreadable: FailureError[] = [];
    for (const name of names) {
      try {
        found.push(this.#facts(join(this.#folder, name)));
      } catch (error) {
        if (!(error instanceof FailureError)) throw error;
        unreadable.push(error);
      }
    }
    const shown = found.filter(({ end }) => all || end === undefined);
    return { found: shown.sort((one, other) => other.head.at - one.head.at), unreadable };
  }

  /**
   * @param text a whole id, or its last four characters
   * @throws UsageError for what is no id, NotFoundError where there is no such session
   */
  find(text: string): SessionFacts {
    if (!/^(?:\d{8}T\d{6}Z-)?[0-9a-z]{4}$/i.test(text)) {
      throw new UsageError(`${JSON.stringify(text.slice(0, 40))} is not the id of a session, such as k3x9`, { hint });
    }
    const [name, ...others] = this.#names().filter((known) => bareName(known).endsWith(text.slice(-4).toLowerCase()));
    const isThere = name !== undefined && (text.length === 4 || bareName(name) === text);
    if (!isThere) throw new NotFoundError(`There is no session ${text}`, { hint });
    if (others.length > 0 && text.length === 4) {
      const ids = [name, ...others].map(bareName).join(' or ');
      throw new UsageError(`${text} may be ${ids}: give the whole id`, { hint });
    }
    return this.#facts(join(this.#folder, name));
  }

  /** Begins a session, on disk when this resolves. @param records what it begins with */
  async begin(about: Omit<SessionHead, 'session' | 'at'>, records: readonly SessionRecord[] = []): Promise<SessionLog> {
    makePrivateFolder(this.#options.folder);
    makePrivateFolder(this.#folder);
    for (;;) {
      const at = Math.round(this.#options.clock.now());
      const session = this.#newId(at);
      const path = join(this.#folder, `${session}${unfinishedName}`);
      const text = [recordText({ count: 1, session, at, ...about }), ...records.map(recordText)].join('');
      if (await createFileAtomically(path, text)) return SessionLog.open(path, this.#options);
    }
  }

  /**
   * Takes a session to count on.
   * @throws ConflictError while another process is at it
   */
  open({ path }: Pick<ReadSession, 'path'>): SessionLog {
    return SessionLog.open(path, this.#options);
  }

  /** Ends a session for good, and leaves it. */
  end(log: SessionLog, end: SessionEnd): void {
    log.end(end);
    log.close();
    // The end is in the file: the name only spares the next command to look.
    const { path } = log.session;
    if (path.endsWith(unfinishedName)) renameSync(path, `${path.slice(0, -unfinishedName.length)}${finishedName}`);
  }

  /** Removes the file of a session that is finished, or damaged beyond its first line. */
  remove({ path }: Pick<ReadSession, 'path'>): void {
    rmSync(path, { force: true });
  }

  /**
   * Makes one session of several, which are finished with that. The sum of what each has counted is where it begins.
   * @param isTrial it is discarded from the beginning, and those that it is made of go on
   * @throws ConflictError while another process is at one of them
   */
  async merge(sources: readonly ReadSession[], isTrial: boolean): Promise<SessionLog> {
    const logs: SessionLog[] = [];
    try {
      for (const source of sources) logs.push(this.open(source));
      const tally = new Tally();
      for (const { session } of logs) {
        const counted = tallyOf(session);
        for (const [petId, units] of counted.counts()) tally.base(petId, units);
        for (const [code, units] of counted.unknowns()) tally.base(code, units);
      }
      const [first] = sources;
      if (first === undefined) throw new Error('nothing to merge');
      const { env, store, service, baseUrl } = first.head;
      const merged = sources.map(({ head }) => head.session);
      const about = { env, store, service, baseUrl, merged };
      if (isTrial) return await this.begin(about, [...baseRecords(tally), { end: { how: 'discarded' } }]);
      const into = await this.begin(about, baseRecords(tally));
      this.#endMerged(logs, into.session.head.session);
      return into;
    } finally {
      for (const log of logs) log.close();
    }
  }

  /** A crash may have come between a merged session and the end of its sources: none of them is counted twice. */
  endSources({ head }: Pick<ReadSession, 'head'>): void {
    const logs = this.#names()
      .filter((name) => name.endsWith(unfinishedName) && head.merged.includes(bareName(name)))
      .map((name) => this.#facts(join(this.#folder, name)))
      .filter(({ end }) => end === undefined)
      .map((session) => this.open(session));
    this.#endMerged(logs, head.session);
  }

  #endMerged(logs: readonly SessionLog[], into: string): void {
    for (const log of logs) this.end(log, { how: 'merged', into });
  }

  #facts(path: string): SessionFacts {
    requirePrivateFile(path);
    const session = readSession(path);
    return { ...session, holder: session.end === undefined ? holderOf(session, this.#options) : undefined };
  }

  #names(): string[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder).filter((name) => name.endsWith(unfinishedName) || name.endsWith(finishedName));
  }

  /** Its last four characters tell it from all others. */
  #newId(at: number): string {
    const time = new Date(at).toISOString().replace(/[-:]|\.\d+/g, '');
    const taken = new Set(this.#names().map((name) => bareName(name).slice(-4)));
    for (let attempt = 0; ; attempt += 1) {
      const number = (Math.floor(this.#options.random() * 36 ** 4) + attempt) % 36 ** 4;
      const suffix = number.toString(36).padStart(4, '0');
      if (!taken.has(suffix)) return `${time}-${suffix}`;
    }
  }
}

/** What a session has counted, by what was known while it was scanned. */
export function tallyOf(
  { scans }: Pick<ReadSession, 'scans'>,
  petOf: (code: string) => bigint | undefined = () => undefined,
): Tally {
  const tally = new Tally();
  for (const scan of scans) applyRecord(tally, scan, petOf);
  return tally;
}

function baseRecords(tally: Tally): ScanRecord[] {
  const pets = Array.from(tally.counts(), ([petId, base]) => ({ base, code: `${petId}`, pet: `${petId}` }));
  return [...pets, ...Array.from(tally.unknowns(), ([code, base]) => ({ base, code }))];
}

function bareName(name: string): string {
  return name.replace(/\.\w+$/, '');
}
