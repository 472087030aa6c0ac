import { changeFileText } from '../../../../change-files/change-file-text.ts';
import { shortOf } from '../../../../counts/sessions.ts';
import { type BulkRow, type Change, isWrong } from '../../../../inventory/change.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import { planChanges } from '../../../../inventory/plan.ts';
import { unknownLines, unknownRows } from '../../../../output/count-text.ts';
import { plainPaint } from '../../../../output/terminal.ts';
import { requireWithinGuards } from '../../../../runs/execute.ts';
import { StockReader } from '../../../../runs/stock-reader.ts';
import { NotFoundError, PartialError, UsageError } from '../../../../shared/errors.ts';
import { fileWord, whereName, whereOptions } from '../../../../shared/where.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { performPlan } from '../../../runs/perform.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import { exportRows, openChangeFile } from '../failed-out.ts';
import type { CountOptions } from './count-options.ts';
import type { Counting } from './counting.ts';
import { hashOf } from './rest.ts';

/** Writes a change file. @param deltas of what has come in or gone out */
type WriteFile = (rows: readonly BulkRow[], deltas: boolean) => Promise<void>;

export interface FinishOptions extends CountOptions {
  /** All pets of the service, when the count began; undefined: not known. */
  readonly petIds: ReadonlySet<bigint> | undefined;
  readonly writeFile: WriteFile | undefined;
  readonly beganNow: boolean;
  readonly wayOn: string;
}

/**
 * Ends a count: as a run, or as a change file. With that the session is finished. If it does not come to that the session stays as it is.
 * @throws UsageError if nothing was counted; PartialError if something was scanned that is no pet's
 */
export async function finishCount(run: RunAccess, counting: Counting, options: FinishOptions): Promise<void> {
  const { invocation } = run;
  const { tally, session } = counting;
  // An empty input says nothing about the shelves: with --all it would set the whole shop to 0.
  if (tally.pets === 0 && tally.unknownUnits === 0) {
    if (options.beganNow) session.end({ how: 'discarded' });
    throw new UsageError('Nothing was counted, and nothing was written');
  }
  const plan = await planOf(run, counting, options);
  const { unknowns, rows } = plan;
  const asks = !options.dryRun && options.to === undefined && invocation.questions.willAsk();
  const lines = await showUnknown(invocation, unknowns, asks);
  requireKnown(plan, options.all === true, lines);
  const unscanned = (options.petIds?.size ?? 0) - rows.length;
  if (!options.all && unscanned > 0 && session.head.mode === 'count') {
    const kept = unscanned === 1 ? 'keeps its' : 'keep their';
    await invocation.messages.note(`${counted(unscanned, 'pet')} not scanned ${kept} stock.`);
  }
  if (options.writeFile === undefined) await writeStock(run, counting, plan, options);
  else {
    requireWithinGuards(rows, options.guards);
    await options.writeFile(rows, session.head.mode !== 'count');
    session.end({ how: 'written', file: options.to ?? '-' });
    if (options.to !== undefined && options.to !== '-') {
      const differ = grouped(rows.filter(({ before, after }) => before !== after).length);
      const { messages, where } = invocation;
      await messages.note(
        `Written to ${options.to}: ${counted(rows.length, 'pet')}, ${differ} with another stock than now.`,
      );
      await messages.note(`Apply it: petstock inventory apply ${fileWord(options.to)} ${whereOptions(where)}`);
    }
  }
  if (!session.isKept) session.end({ how: 'discarded' });
  else if (options.dryRun) {
    const name = shortOf(session);
    const place = whereOptions(invocation.where);
    await invocation.messages.note(`Session ${name} keeps what was counted: petstock inventory count ${name} ${place}`);
  }
  if (unknowns.size === 0) return;
  const units = [...unknowns.values()].reduce((sum, count) => sum + count, 0);
  throw new PartialError(`Not counted: ${counted(units, 'unit')} of ${counted(unknowns.size, 'unknown code')}`, {
    lines,
  });
}

/** Lists what is no pet of the service. Returns lines for an error, if that is not seen or a program reads it. */
async function showUnknown(
  { messages, globals, results }: Invocation,
  unknowns: ReadonlyMap<string, number>,
  always: boolean,
): Promise<readonly string[]> {
  if (unknowns.size > 0) await messages.show((paint, width) => unknownLines(unknowns, paint, width), { always });
  const isNamed = results.wantsJson || (globals.quiet === true && !always);
  return isNamed ? unknownRows(unknowns, plainPaint, Number.POSITIVE_INFINITY) : [];
}

/** @throws NotFoundError if no pet was counted; UsageError if --all would write a zero for what may be on the shelf */
function requireKnown({ rows, unknowns }: CountPlan, all: boolean, lines: readonly string[]): void {
  if (unknowns.size === 0) return;
  if (rows.length === 0) {
    throw new NotFoundError('None of what was scanned is the id of a pet; nothing was written', { lines });
  }
  if (!all) return;
  const codes = unknowns.size === 1 ? 'A code is' : `${grouped(unknowns.size)} codes are`;
  throw new UsageError(
    `${codes} not known, and --all would set to 0 what may have been scanned; nothing was written. ` +
      'Name the codes with --codes, or drop each with = <code> 0',
    { lines },
  );
}

/** Returns the sums that were counted beside the stock now, and the units of what is no pet of the service, by what is said of it. */
async function planOf(run: RunAccess, counting: Counting, options: FinishOptions) {
  const { invocation } = run;
  const units = new Map(counting.tally.counts());
  await invocation.service.announce();
  const petIds = new Set([...units.keys(), ...((options.all && options.petIds) || [])]);
  const stock = await new StockReader(run.connection).readSettled(petIds);
  const unknowns = counting.unknowns();
  const { quantities } = stock;
  const unusable = [quantities.unreadable, quantities.outdated].flatMap((bad) => [...(bad?.keys() ?? [])]);
  const there = new Set([...quantities.keys(), ...unusable]);
  const nameOf = counting.namesOfMissing();
  for (const [petId, quantity] of units) {
    if (there.has(petId)) continue;
    units.delete(petId);
    const name = nameOf(petId);
    unknowns.set(name, (unknowns.get(name) ?? 0) + quantity);
  }
  if (options.all) for (const petId of there) if (!units.has(petId)) units.set(petId, 0);
  const { mode } = counting.session.head;
  const { reason = { count: 'stock-take', add: 'scanned in', take: 'scanned out' }[mode], ref } = options;
  const changes = Array.from(units, ([petId, sum], index): Change => {
    const delta = mode === 'count' ? undefined : mode === 'add' ? sum : -sum;
    const quantity = mode === 'count' ? sum : undefined;
    return { line: index + 1, petId, quantity, delta, expected: undefined, reason, ref };
  });
  const { rows } = planChanges(changes, quantities, { env: whereName(invocation.where) });
  return { rows, stock, unknowns };
}

type CountPlan = Awaited<ReturnType<typeof planOf>>;

async function writeStock(run: RunAccess, { session }: Counting, { rows, stock }: CountPlan, options: FinishOptions) {
  const { names } = session.codes;
  const left = rows.flatMap((row) => (isWrong(row) && row.after === undefined ? `${row.petId}` : []));
  const job = {
    ...{ rows, stock, look: `${options.wayOn} --dry-run` },
    subject: { command: 'inventory count', contentHash: hashOf(session) },
    intention: { verb: 'Write' as const },
    names: names.size > 0 ? names : undefined,
    // Whatever becomes of the run, nothing of the session is in another one.
    onBegun: async (id: string) => session.end({ how: 'applied', run: id, left }),
  };
  await performPlan(run, job, { ...options, stdinIsTaken: false });
  if (!options.dryRun && session.isOpen) session.end({ how: 'applied', run: null });
}

/** @throws UsageError at once if there is no folder for the file, or a file that may not be replaced */
export async function changeFileWriter(
  invocation: Invocation,
  { to, codes, force = false, dryRun }: Pick<CountOptions, 'to' | 'codes' | 'force' | 'dryRun'>,
): Promise<WriteFile | undefined> {
  if (to === undefined) return undefined;
  if (dryRun) throw new UsageError('--to and --dry-run cannot be used together: --to writes no stock');
  if (to === '-') {
    return async (rows, deltas) => {
      for await (const piece of changeFileText(exportRows(rows), { deltas })) await invocation.results.write(piece);
    };
  }
  const inputs = codes === undefined ? ['-'] : ['-', codes];
  const write = await openChangeFile(invocation, '--to', to, { force, inputs });
  return (rows, deltas) => write(rows, { deltas });
}
