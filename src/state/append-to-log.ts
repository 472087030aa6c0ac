import type { RecordedResult } from '../inventory/run-records.ts';
import { beginRun, type NewRun } from './begin-run.ts';
import { hasLostWrites } from './decide.ts';
import { grantRows, type IntendedRows, selectIntended, writeGranted } from './intend-rows.ts';
import type { Grant, Outcome } from './intents-and-outcomes.ts';
import { aliveAmong } from './living-processes.ts';
import { isOlder, requireCurrent, requireNew } from './older-copy.ts';
import { countsUpdate, type RunKey, runByToken, runIn, selectRun, selectSettled, settleRows } from './settle-rows.ts';
import type { StateContext } from './state-context.ts';
import { selectLast, type TransactionContext, type TransactionSteps } from './state-database.ts';
import { type DrawnIn, drawnIn } from './state-notes.ts';
import { number, type ResultSets, statement, text } from './statements.ts';

/** One append to the log of a run. It begins the run if it is new, settles outcomes, and then grants intents. */
export interface LogAppend extends RunKey, IntendedRows {
  /** The run, if it is not in the history yet. */
  readonly beginning: NewRun | undefined;
  readonly outcomes: readonly Outcome[];
  readonly confirmed: Confirmed;
  /** The rows that the log has passed to `Presence.retain`, if this process leaves the run; otherwise undefined. */
  readonly leaving: ReadonlySet<unknown> | undefined;
}

/** The writes that the state has confirmed to this process. A state that lacks any of them has lost writes. */
export interface Confirmed {
  /** The name of the state; undefined before the first write. */
  readonly state: string | undefined;
  /** The highest confirmed sequence number. */
  readonly highest: number;
  /** The last intent: its row, and the call that wrote it; undefined if there is none or it may have been replaced. */
  readonly intent: { readonly row: number; readonly call: string } | undefined;
}

/**
 * - `taken`: rows were to be sent, but another process has taken the run over; `by` names the process that now writes
 *   it, if it is alive. Nothing was written
 * - `gone`: the run is not in the state
 * - `lost`: the state lacks something that it had confirmed, so nothing may be sent
 */
export type LogAppendResult =
  | {
      readonly kind: 'written';
      readonly run: string;
      readonly grants: readonly Grant[];
      /** The last sequence number of the state after this append. */
      readonly last: number;
      readonly drawnIn: DrawnIn;
    }
  | { readonly kind: 'taken'; readonly run: string; readonly by: string | undefined }
  | { readonly kind: 'lost'; readonly run: string }
  | { readonly kind: 'gone' };

/**
 * Begins the run if it is new, records outcomes, and grants or refuses intents.
 * @throws the errors of `requireCurrent`, `requireNew` and `beginRun`, if the run is new
 */
export function* appendToLog(
  context: StateContext,
  at: TransactionContext,
  given: LogAppend,
): TransactionSteps<LogAppendResult> {
  const { presence, notes } = context;
  const { token, beginning, outcomes, confirmed, leaving } = given;
  const loads = [
    statement(selectRun, token),
    selectLast,
    statement(
      `SELECT token FROM petstock.rows WHERE run = ${runByToken} AND row = ?`,
      token,
      confirmed.intent?.row ?? 0,
    ),
    selectSettled(token, outcomes),
    ...selectIntended(given),
  ];
  const loaded = beginning === undefined ? yield loads : yield* beginRun(at, token, beginning, loads);
  const [[head] = [], [meta] = []] = loaded;
  const { state } = drawnIn(meta);
  if (beginning !== undefined) {
    yield* requireCurrent(meta, context);
    requireNew(context, beginning, state);
  }
  // Another process may have found this state to be an older copy, and renamed it.
  const isAnother = confirmed.state !== undefined && confirmed.state !== state;
  const isBehind = isAnother || (yield* isOlder(meta, notes));
  if (head !== undefined && isBehind) return { kind: 'lost', run: String(head.run) };
  const result = yield* settleAndGrant(context, at, given, loaded);
  if (leaving !== undefined) {
    const leave = 'UPDATE petstock.runs SET holder = NULL WHERE token = ? AND holder = ?';
    at.writes.push(statement(leave, token, presence.id), ...presence.leaving(at, leaving));
  }
  return result;
}

function* settleAndGrant(
  { presence }: StateContext,
  at: TransactionContext,
  given: LogAppend,
  loaded: ResultSets,
): TransactionSteps<LogAppendResult> {
  const [[head] = [], [meta] = [], [kept] = [], settled = [], own = [], leased = []] = loaded;
  const { intents, outcomes, confirmed, call } = given;
  if (head === undefined) return { kind: 'gone' };
  const run = runIn(head);
  const isOurs = head.holder === presence.id;
  if (!isOurs && intents.length > 0) {
    const living = yield* aliveAmong(presence, at, [head]);
    return { kind: 'taken', run: run.run, by: living.get(String(head.holder))?.name };
  }
  const rows = new Map(own.map((row) => [Number(row.row), row]));
  // A repeated call has already written intents after these outcomes, perhaps replacing the confirmed intent.
  const isRepeated = intents.some(({ row }) => rows.get(row)?.token === call);
  const last = number(meta?.last) ?? 0;
  const isKept = confirmed.intent === undefined || kept?.token === confirmed.intent.call;
  const isLost = isOurs && !isRepeated && (!isKept || hasLostWrites(last, confirmed.highest, given.since));
  const lost = { kind: 'lost', run: run.run } as const;
  if (isLost && intents.length > 0) return lost;
  const moves = isRepeated ? [] : yield* settleRows(at, run, outcomes, settled, isOurs ? undefined : presence.id);
  const grants = yield* grantRows(presence, at, run, given, rows, leased);
  const granted = intents.filter(({ row }, index) => {
    return grants[index]?.kind === 'granted' && rows.get(row)?.token !== call;
  });
  writeGranted(at, presence.id, run, given, granted, rows);
  const became = new Map(moves.map(({ row, to }) => [row, to]));
  for (const { row } of granted) {
    const from = became.get(row) ?? (text(rows.get(row)?.result) as RecordedResult | undefined);
    if (from !== undefined) moves.push({ row, from, to: 'unknown' });
  }
  if (moves.length > 0) at.writes.push(countsUpdate(run.id, moves));
  const { state, drawn } = drawnIn(meta);
  const now = { state, drawn: drawn + at.allocated };
  return isLost ? lost : { kind: 'written', run: run.run, grants, last: last + at.allocated, drawnIn: now };
}
