import { type BarCodes, parseBarCodes } from '../inventory/bar-codes.ts';
import type { ScanLine } from '../inventory/count/scan-line.ts';
import type { CountMode } from '../inventory/count/tally.ts';
import type { RunHead } from '../inventory/run-records.ts';
import { FailureError } from '../shared/errors.ts';
import type { ProcessIdentity } from '../shared/processes.ts';
import type { SqliteConnection } from '../state/sqlite/connection.ts';
import type { Row } from '../state/statements.ts';

/** The properties of a session. `baseUrl` is the base URL when the session began. */
export interface CountSessionHead extends Pick<RunHead, 'env' | 'baseUrl'>, Partial<Pick<RunHead, 'store'>> {
  /** The name of the service, by `serviceNameOf`. */
  readonly service: string;
  /** The id of the session, like `20260115T120020Z-k3x9`. */
  readonly session: string;
  /** When the session began, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly mode: CountMode;
  readonly label?: string;
  readonly user?: string;
}

/** Returns the last four characters of a session's id. They are unique on a machine. */
export function shortOf({ head }: { readonly head: Pick<CountSessionHead, 'session'> }): string {
  return head.session.slice(-4);
}

export type CountSessionOutcome =
  | { readonly how: 'applied'; readonly run: string | null }
  | { readonly how: 'written'; readonly file: string }
  | { readonly how: 'merged'; readonly into: string }
  | { readonly how: 'discarded' };

/**
 * The kinds of records:
 * - `add`, `set`, `back`: a scanned line
 * - `base`: units that a merged session begins with, or that a run has not written
 * - `code`: from now on the code means the pet, or, without a pet, what it meant before it was assigned
 * - `seen`: the stock of the pet when its count began
 * - `given`: a run or a file is about to take units of the pet; on disk before the run begins
 * - `run`: the run whose id is `code` has taken these units; without an id, a file has, or the stock was the same
 * - `again`: the count of the pet is no longer valid
 * - `settled`: units that the run has not written are back in the session; if no `run` precedes, the run never began
 */
const recordKinds = ['add', 'set', 'base', 'back', 'code', 'seen', 'given', 'run', 'again', 'settled'] as const;

export interface ScanRecord extends Pick<ScanLine, 'code' | 'units'> {
  readonly kind: (typeof recordKinds)[number];
  /** The pet of the code at the time of the scan; undefined if none was known. */
  readonly pet?: bigint | undefined;
}

/** Returns a record that is not a scan. */
export function record(kind: ScanRecord['kind'], { pet, units = 0, code = '' }: Partial<ScanRecord> = {}): ScanRecord {
  return { kind, units, code, pet };
}

export interface SessionContent {
  readonly head: CountSessionHead;
  readonly codes: BarCodes;
  readonly scans: readonly ScanRecord[];
}

export interface CountSession extends SessionContent {
  /** How the session ended; undefined if it is not finished. */
  readonly end: CountSessionOutcome | undefined;
  /** The process that took the session last. `CountSessions` omits this process, and processes that have ended. */
  readonly holder: ProcessIdentity | undefined;
  /** When the session was last written or kept alive, in milliseconds since the Unix epoch. */
  readonly touched: number;
}

/*
 * The tables only concern this folder, so they are created on demand and are not part of the state's schema. `pet` is
 * text, because SQLite would return a rounded int64.
 */
const tables = `
  CREATE TABLE IF NOT EXISTS counts (
    session TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    head TEXT NOT NULL,
    codes TEXT NOT NULL,
    holder TEXT,
    touched INTEGER NOT NULL,
    ended TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS count_scans (
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    units INTEGER,
    code TEXT,
    pet TEXT,
    PRIMARY KEY (session, number)
  ) STRICT, WITHOUT ROWID;
`;

/** Thrown if a session can't be read: its content is not reliable. */
export class DamagedCountSession extends FailureError {
  constructor(
    readonly session: string,
    file: string,
    cause: unknown,
  ) {
    const reason = (cause as Error).message;
    super(`Session ${session.slice(-4)} in ${file} is damaged (${reason}). It was not changed`, {
      hint: 'petstock inventory count --new',
      cause,
    });
  }
}

/** Reports whether this state has the tables of stock counts. */
export function hasTables(connection: SqliteConnection): boolean {
  return connection.get("SELECT 1 FROM sqlite_schema WHERE name = 'count_scans'") !== undefined;
}

export function makeTables(connection: SqliteConnection): void {
  if (hasTables(connection)) return;
  connection.durable(() => connection.exec(tables));
}

/**
 * Returns a session with its scans.
 * @param row a row of the table `counts`
 * @throws DamagedCountSession
 */
export function sessionOf(connection: SqliteConnection, row: Row): CountSession {
  const { head, codes, ended, holder, touched } = row;
  const session = String(row.session);
  const sql = 'SELECT kind, units, code, pet FROM count_scans WHERE session = ? ORDER BY number';
  const scans = connection.all(sql, session);
  try {
    return {
      head: JSON.parse(String(head)) as CountSessionHead,
      codes: parseBarCodes(String(codes)),
      end: ended === null ? undefined : (JSON.parse(String(ended)) as CountSessionOutcome),
      holder: holder === null ? undefined : (JSON.parse(String(holder)) as ProcessIdentity),
      touched: Number(touched),
      scans: scans.map(scanOf),
    };
  } catch (error) {
    throw new DamagedCountSession(session, connection.file, error);
  }
}

function scanOf({ kind: text, units, code, pet }: Row): ScanRecord {
  const kind = recordKinds.find((known) => known === text);
  if (kind === undefined) throw new Error(`unknown kind of scan: ${JSON.stringify(text)}`);
  return { kind, units: Number(units), code: String(code ?? ''), pet: pet === null ? undefined : BigInt(String(pet)) };
}

/** Ends a session for good. Changes nothing if it has already ended. */
export function endSession(connection: SqliteConnection, session: string, end: CountSessionOutcome): void {
  const sql = 'UPDATE counts SET ended = ?, holder = NULL WHERE session = ? AND ended IS NULL';
  connection.run(sql, JSON.stringify(end), session);
}

/** Adds scans after the existing ones. Call this in a transaction. */
export function addScans(connection: SqliteConnection, session: string, scans: readonly ScanRecord[]): void {
  const last = connection.get('SELECT max(number) AS last FROM count_scans WHERE session = ?', session);
  const sql = 'INSERT INTO count_scans (session, number, kind, units, code, pet) VALUES (?, ?, ?, ?, ?, ?)';
  for (const [index, { kind, units, code, pet }] of scans.entries()) {
    const number = Number(last?.last ?? 0) + 1 + index;
    connection.run(sql, session, number, kind, units, code, pet === undefined ? null : `${pet}`);
  }
}
