import { closeSync, fdatasyncSync, fstatSync, futimesSync, openSync, writeSync } from 'node:fs';
import type { Clock, Deadline } from '../shared/clock.ts';
import { ConflictError, FailureError } from '../shared/errors.ts';
import { fileErrorReason } from '../shared/file-error.ts';
import type { Processes, ProcessIdentity } from '../shared/processes.ts';
import { holderOf, isSame, keepAliveEvery, type ReadSession, readSession } from './read-session.ts';
import { recordText, type ScanRecord, type SessionEnd } from './records.ts';

export interface SessionSystem {
  readonly clock: Clock;
  readonly processes: Processes;
}

/** A session that this process is at. No other one can be at it until it is closed, or this process is gone. */
export class SessionLog {
  readonly #system: SessionSystem;
  readonly #descriptor: number;
  #session: ReadSession;
  #size = 0;
  #deadline: Deadline | undefined;
  #isOpen = true;
  /** The last line in the file has no line end. */
  #isCutOff = false;

  private constructor(session: ReadSession, descriptor: number, system: SessionSystem) {
    this.#session = session;
    this.#descriptor = descriptor;
    this.#system = system;
  }

  /**
   * Takes a session. Of several processes that do so at once, the one whose claim is first in the file has it.
   * @throws ConflictError while another process is at it; FailureError where it can't be written
   */
  static open(path: string, system: SessionSystem): SessionLog {
    const found = readSession(path);
    requireFree(found, system);
    const log = new SessionLog(
      found,
      inWords(path, () => openSync(path, 'a')),
      system,
    );
    try {
      // Those who are gone have left: should one of them come back after all, it sees that here.
      const left = found.claims.map((claim) => recordText({ leave: claim }));
      const claim = recordText({ claim: system.processes.self });
      log.#isCutOff = found.rest !== undefined;
      log.#write([...left, claim].join(''));
      log.#session = log.#requireFirst();
      log.#keepAlive();
      return log;
    } catch (error) {
      log.close();
      throw error;
    }
  }

  /** It was neither ended nor closed. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** As it was when this process took it. */
  get session(): ReadSession {
    return this.#session;
  }

  /** Adds what was scanned. On disk when it returns. @throws FailureError, ConflictError where another process has the session by now */
  append(records: readonly ScanRecord[]): void {
    if (records.length === 0) return;
    this.#requireOurs();
    this.#write(records.map(recordText).join(''));
  }

  /** Goes on without the lines that can't be read: from now on the session is sound. */
  acceptDamage(): void {
    this.#requireOurs();
    this.#write(recordText({ without: this.#session.damage.length }));
  }

  /** Ends the session for good. On disk when it returns. */
  end(end: SessionEnd): void {
    this.#requireOurs();
    this.#write(recordText({ end }));
  }

  /** Leaves the session to others. Best effort: they see it too when this process is gone. May be called again. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#deadline?.clear();
    try {
      writeSync(this.#descriptor, this.#onLineOfItsOwn(recordText({ leave: this.#system.processes.self })));
    } catch {
      // On a full disk the count can still go on.
    }
    closeSync(this.#descriptor);
  }

  #write(text: string): void {
    inWords(this.#session.path, () => {
      const bytes = Buffer.from(this.#onLineOfItsOwn(text));
      for (let at = 0; at < bytes.length; ) {
        at += writeSync(this.#descriptor, bytes, at);
        this.#isCutOff = at < bytes.length;
      }
      fdatasyncSync(this.#descriptor);
      this.#size = fstatSync(this.#descriptor).size;
    });
  }

  #onLineOfItsOwn(text: string): string {
    return this.#isCutOff ? `\n${recordText({ cut: true })}${text}` : text;
  }

  /** What another process has written shows itself by the size. */
  #requireOurs(): void {
    const { size, nlink } = fstatSync(this.#descriptor);
    const { path } = this.#session;
    if (nlink === 0) throw new FailureError(`The session in ${path} was removed while it was counted: scan it again`);
    if (size === this.#size) return;
    this.#requireFirst();
    this.#size = size;
  }

  #requireFirst(): ReadSession {
    const now = readSession(this.#session.path);
    const { self } = this.#system.processes;
    const first = now.claims.findIndex((claim) => isSame(claim, self));
    if (first === -1) throw new ConflictError(`Session ${shortOf(now)} was taken over by another process`);
    requireFree({ ...now, claims: now.claims.slice(0, first) }, this.#system);
    return now;
  }

  #keepAlive(): void {
    this.#deadline = this.#system.clock.deadline(keepAliveEvery, () => {
      this.#deadline?.clear();
      if (!this.#isOpen) return;
      const now = this.#system.clock.now() / 1000;
      try {
        futimesSync(this.#descriptor, now, now);
      } catch {
        // A process beside us can be seen anyway.
      }
      void Promise.resolve().then(() => this.#isOpen && this.#keepAlive());
    });
  }
}

/** The last four characters of its id: no two sessions of one folder have the same. */
export function shortOf({ head }: Pick<ReadSession, 'head'>): string {
  return head.session.slice(-4);
}

function requireFree(session: ReadSession, system: SessionSystem): void {
  const holder = holderOf(session, system);
  if (holder !== undefined) throw busy(session, holder);
}

function busy(session: ReadSession, { pid, host }: ProcessIdentity): ConflictError {
  return new ConflictError(`Session ${shortOf(session)} is being counted by process ${pid} on ${host}`, {
    hint: 'petstock inventory count --list',
  });
}

function inWords<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new FailureError(`The session in ${path} can't be written: ${fileErrorReason(cause)}`, { cause });
  }
}
