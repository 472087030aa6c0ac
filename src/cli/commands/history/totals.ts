import { counted } from '../../../inventory/items.ts';
import type { RunRecord } from '../../../inventory/run-records.ts';
import { type PetTotals, type RunKind, Totals } from '../../../inventory/totals.ts';
import { localMinute } from '../../../output/time.ts';
import { type ShownTotals, totalsView } from '../../../output/totals-view.ts';
import { withPage } from '../../../output/view.ts';
import { NotFoundError } from '../../../shared/errors.ts';
import { targetName } from '../../../shared/target.ts';
import type { State } from '../../../state/state.ts';
import type { History } from '../../../state/stored-history.ts';
import { namedTarget } from '../../invocation/globals.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { withExistingState } from '../../invocation/state-access.ts';
import { define, fieldsOption } from '../define.ts';
import { daysText, namedTargetText, parseDate } from './selection.ts';

export const defineHistoryTotals = define({
  needsConfig: false,
  formats: withPage,
  description:
    'Adds up by pet what came in and what went out. Counted is what stock-takes (inventory count) found more (+) or fewer (-) than there should ' +
    'have been; their deliveries and sales (--add, --take) came in and went out. Now is the stock that the history knows last, whatever the period. An undo ' +
    'takes back what its run brought in or took out, on the day of the undo. Conflicts and rows that failed changed nothing; of a row that differs, ' +
    'what the service wrote counts. Not known is how many writes are not in these sums: their stock before was not read, or nobody knows whether ' +
    'they were written. Of every store and environment, unless --store, --env or their variables name one. Sends nothing.',
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
  action: async (invocation, options) => {
    const { context, results, messages, target } = invocation;
    const now = context.clock.now();
    const period = {
      since: parseDate('--since', options.since, now, 'start'),
      until: parseDate('--until', options.until, now, 'end'),
    };
    await withExistingState(invocation, async (state) => {
      const totals = state === undefined ? [] : await totalsOf(invocation, state, period);
      const title = `In and out of ${namedTargetText(invocation)}${daysText(period)}`;
      const page = { title, facts: [`Printed ${localMinute(now)}`] };
      await results.print(totalsView(totals, { place: targetName(target), page }));
      const unknown = totals.reduce((sum, each) => sum + each.unknown, 0);
      if (unknown === 0) return;
      await messages.note(`${counted(unknown, 'write')} not in these sums: it is not known what changed.`);
    });
  },
});

interface Period {
  readonly since: number | undefined;
  readonly until: number | undefined;
}

async function totalsOf(invocation: Invocation, state: State, period: Period): Promise<ShownTotals[]> {
  const { history } = state;
  const where = namedTarget(invocation);
  const totals = new Totals();
  const kinds = new Map<string, Promise<RunKind>>();
  for await (const { run, row } of history.settled({ ...where, ...period })) {
    const isPlain = run.undoes === undefined;
    const isCount = run.command === 'inventory count' && row.delta === undefined;
    totals.add(run, row, isPlain ? { isCount, isReversal: false } : await kindOf(history, run, kinds));
  }
  for (const open of ['incomplete', 'running'] as const) {
    for await (const run of history.runs({ ...where, state: open })) {
      for await (const row of history.rows(run.run, ['unknown'])) {
        const { at = run.at } = row;
        const isWithin = at >= (period.since ?? at) && at <= (period.until ?? at);
        if (isWithin) totals.add(run, row, { isCount: false, isReversal: false });
      }
    }
  }
  return withKnown(invocation, state, [...totals.pets()]);
}

/** Returns what an undo restores. A run that was pruned counts as one that moved stock. */
function kindOf(history: History, { undoes, run }: RunRecord, kinds: Map<string, Promise<RunKind>>): Promise<RunKind> {
  const known = kinds.get(run) ?? undoneKind(history, undoes ?? '', kinds);
  kinds.set(run, known);
  return known;
}

async function undoneKind(history: History, undone: string, kinds: Map<string, Promise<RunKind>>): Promise<RunKind> {
  try {
    const run = await history.run(undone);
    if (run.undoes !== undefined) {
      const { isCount, isReversal } = await kindOf(history, run, kinds);
      return { isCount, isReversal: !isReversal };
    }
    const isCount = run.command === 'inventory count' && (await hasSums(history, undone));
    return { isCount, isReversal: true };
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    return { isCount: false, isReversal: true };
  }
}

/** Reports whether a count was a stock count; other counts are added to the stock. */
async function hasSums(history: History, run: string): Promise<boolean> {
  for await (const { delta } of history.rows(run)) return delta === undefined;
  return false;
}

/** Maximum number of pets per query. */
const atOnce = 500;

/** Adds the names, and the stock in the history. Names of the practice shop only apply to its own pets. */
async function withKnown({ petNames, config }: Invocation, { petWrites }: State, totals: readonly PetTotals[]) {
  const names = await petNames();
  const known: ShownTotals[] = [];
  for (const serviceName of new Set(totals.map((each) => each.serviceName))) {
    const own = totals.filter((each) => each.serviceName === serviceName);
    for (let from = 0; from < own.length; from += atOnce) {
      const some = own.slice(from, from + atOnce);
      const stocks = await petWrites.lastKnown(serviceName, some);
      for (const [index, each] of some.entries()) {
        const isTheirs = config.settings.codes !== undefined || each.env === 'sandbox';
        known.push({ ...each, name: isTheirs ? names?.get(each.petId) : undefined, now: stocks[index] });
      }
    }
  }
  return known;
}
