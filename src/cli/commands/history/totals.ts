import { isStockTake } from '../../../inventory/earlier-changes.ts';
import { counted } from '../../../inventory/items.ts';
import { type PetTotals, type RowKind, Totals, writtenChange } from '../../../inventory/pet-totals.ts';
import { possibleWrites, type RecordedRow, type RunRecord } from '../../../inventory/run-records.ts';
import { type ShownTotals, totalsView } from '../../../output/history-views.ts';
import { localMinute } from '../../../output/time.ts';
import { withPage } from '../../../output/view.ts';
import { NotFoundError } from '../../../shared/errors.ts';
import { targetName } from '../../../shared/hint.ts';
import type { History } from '../../../state/history.ts';
import { namedTarget } from '../../invocation/globals.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { existingState } from '../../invocation/state-access.ts';
import { define, fieldsOption } from '../command.ts';
import { namedTargetText, periodOf, periodText } from './selection.ts';

export const historyTotalsCommand = define({
  summary: 'add up what came in and went out by pet',
  formats: withPage,
  description:
    'Adds up by pet what came in and went out. The column Counted shows how many units stock-takes (inventory count) found above (+) or below (-) the expected ' +
    'stock. Deliveries and sales that were counted (--add, --take) are in and out. The column Now shows the last stock in the history, whatever the period. An undo ' +
    'cancels its run in these sums; if the run was before the period, the undo itself counts as in or out. ' +
    'Conflicts and failed rows changed nothing; for a row that differs, the stock that the service wrote counts. Not known is the number of ' +
    'writes that are not in these sums. Their previous stock was not read, their outcome is unknown, or they undo such a write. ' +
    'Covers every store and environment, unless --store, --env or their variables name one. Sends nothing.',
  options: [
    [
      '--since <date>',
      'only what was written from this time on: 2026-01-15, today, yesterday, monday, or 7d, 1w, 12h ago',
    ],
    ['--until <date>', 'only what was written up to this time'],
    fieldsOption,
  ],
  examples: [
    ['petstock history totals --since monday'],
    ['petstock history totals --since 2026-01-01 --until 2026-01-31 -o html > january.html', 'a page to print'],
    ['petstock history totals --since 7d -o csv', 'for a spreadsheet'],
  ],
  run: async function* (invocation, options) {
    const { context, messages, target } = invocation;
    const period = periodOf(invocation, options);
    const found = await existingState(invocation);
    const totals = found === undefined ? [] : await totalsOf(invocation, found.history, period);
    const title = `In and out of ${namedTargetText(invocation)}${periodText(period)}`;
    const page = { title, facts: [`Printed ${localMinute(context.clock.now())}`] };
    yield totalsView(totals, { target: targetName(target), page });
    const unknown = totals.reduce((sum, each) => sum + each.unknown, 0);
    if (unknown === 0) return;
    await messages.note(`Not in these sums: ${counted(unknown, 'write')}. It is not known what changed.`);
  },
});

interface Period {
  readonly since: number | undefined;
  readonly until: number | undefined;
}

async function totalsOf(invocation: Invocation, history: History, period: Period): Promise<ShownTotals[]> {
  const where = namedTarget(invocation);
  const totals = new Totals();
  const known: KnownRuns = new Map();
  for await (const { run, row } of history.settled({ ...where, ...period })) {
    totals.add(run, row, kindOf(run, row, await undoneRows(history, run, period, known)));
  }
  for await (const run of history.runs(where)) {
    if (run.counts.unknown === 0) continue;
    for await (const row of history.rows(run.run, ['unknown'])) {
      if (isWithin(period, run, row)) totals.add(run, row, { isCount: false, cancelledChange: 0n });
    }
  }
  return withKnown(invocation, history, [...totals.pets()]);
}

function isWithin({ since, until }: Period, run: RunRecord, { at = run.at }: RecordedRow): boolean {
  return at >= (since ?? at) && at <= (until ?? at);
}

/** A row that an undo may have undone. */
interface UndoneRow {
  readonly isCount: boolean;
  /**
   * The change that its undo cancels: 0 if the row is not in the period, or itself undoes a row that is; undefined if
   * it is not known what the row changed.
   */
  readonly change: bigint | undefined;
}

type UndoneRows = ReadonlyMap<number, UndoneRow>;
type KnownRuns = Map<string, Promise<UndoneRows>>;

/**
 * Returns how a row counts in the sums. The undo of a row that the history no longer has counts as an ordinary change.
 */
function kindOf(run: RunRecord, { line, delta, reason }: RecordedRow, undone: UndoneRows): RowKind {
  if (run.undoes === undefined) {
    return { isCount: isStockTake({ command: run.command, delta, reason }), cancelledChange: 0n };
  }
  const { isCount, change } = undone.get(line) ?? { isCount: false, change: 0n };
  return { isCount, cancelledChange: change };
}

/** Returns the rows of the run that an undo reverses; none if the run is not an undo. */
function undoneRows(
  history: History,
  { undoes }: RunRecord,
  period: Period,
  known: KnownRuns,
): UndoneRows | Promise<UndoneRows> {
  if (undoes === undefined) return new Map();
  const rows = known.get(undoes) ?? readUndoneRows(history, undoes, period, known);
  known.set(undoes, rows);
  return rows;
}

async function readUndoneRows(history: History, undone: string, period: Period, known: KnownRuns): Promise<UndoneRows> {
  const rows = new Map<number, UndoneRow>();
  try {
    const run = await history.run(undone);
    const before = await undoneRows(history, run, period, known);
    for await (const row of history.rows(undone, possibleWrites)) {
      const { isCount, cancelledChange } = kindOf(run, row, before);
      // The undo of an undo cancels nothing: it makes the change again.
      const change = cancelledChange === 0n ? writtenChange(row) : cancelledChange && 0n;
      rows.set(row.row, { isCount, change: isWithin(period, run, row) ? change : 0n });
    }
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  return rows;
}

/**
 * Adds the names of the pets, and their last stock in the history. If the setting codes is not set, only the sandbox's
 * pets have names.
 */
async function withKnown({ remarks, config }: Invocation, history: History, totals: readonly PetTotals[]) {
  const { names } = await remarks('person');
  const known: ShownTotals[] = [];
  for (const service of new Set(totals.map((each) => each.service))) {
    const own = totals.filter((each) => each.service === service);
    const stocks = await history.lastKnown(service, own);
    for (const each of own) {
      const mayHaveNames = config.settings.codes !== undefined || each.env === 'sandbox';
      known.push({ ...each, name: mayHaveNames ? names?.get(each.petId) : undefined, now: stocks.get(each.petId) });
    }
  }
  return known;
}
