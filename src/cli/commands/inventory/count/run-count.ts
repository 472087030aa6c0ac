import { accountOf, mergedOf } from '../../../../counts/account.ts';
import type { CountSessions } from '../../../../counts/count-sessions.ts';
import { OpenCountSession } from '../../../../counts/open-count-session.ts';
import { type CountSession, shortOf } from '../../../../counts/session-tables.ts';
import { type BarCodes, noBarCodes } from '../../../../inventory/bar-codes.ts';
import { isAssigning } from '../../../../inventory/count/scan-line.ts';
import type { UnreadableItem } from '../../../../inventory/items.ts';
import { countHelp, modeName, sumText } from '../../../../output/count-text.ts';
import {
  ChangesFound,
  InterruptedError,
  PetstockError,
  RateLimitedError,
  serviceQuotes,
  UnavailableError,
  UsageError,
} from '../../../../shared/errors.ts';
import { petstock } from '../../../../shared/hint.ts';
import { sentence } from '../../../../shared/parsed.ts';
import { targetName } from '../../../../shared/target.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import { readCodesFile } from '../../../shop-codes.ts';
import { openFailedOut } from '../failed-out.ts';
import { chooseSessions, requireOpen } from './choose-session.ts';
import { changeFileWriter } from './count-file.ts';
import { type CountOptions, chosenWords, commandFor } from './count-options.ts';
import { Counting } from './counting.ts';
import { finishCount } from './finish-count.ts';
import { linesOf } from './lines.ts';
import { withSessions } from './list-sessions.ts';
import { createCountScreen } from './screen.ts';
import { requireFinished, settle } from './settle.ts';

export async function runCount(invocation: Invocation, options: CountOptions): Promise<void> {
  if (!options.dryRun && options.to === undefined) {
    const previewCommand = commandFor(invocation, chosenWords(options), { dryRun: true });
    invocation.questions.requireAnswer({ previewCommand });
  }
  const writeFile = await changeFileWriter(invocation, options);
  const failedOut = await openFailedOut(invocation, options.failedOut, { force: options.force === true });
  const given = options.codes === undefined ? undefined : await readCodesFile(options.codes, invocation.context);
  await withSessions(invocation, async (sessions) => {
    const chosen = await chooseSessions(invocation, sessions, options);
    const run = { invocation, connection: await invocation.connections.connect({ bulk: true, writes: true }) };
    requireSameService(run, chosen);
    const { isTerminal } = invocation.context.stdin;
    if (isTerminal) await invocation.connections.announce();
    // On a terminal, each scan is checked at once, so the list of pets is needed. Scans from a pipe are checked at the
    // end.
    const stock = isTerminal || options.all ? await stockOf(run, options.all) : undefined;
    const session = await openChosen(sessions, chosen, run, { ...options, given });
    try {
      const counting = new Counting(session, { stock, isTyped: isTerminal });
      const continueCommand = session.isKept
        ? commandFor(invocation, [shortOf(session)], { codes: undefined })
        : commandFor(invocation, chosenWords(options));
      const beganNow = chosen.length === 0;
      const petIds = stock && new Set(stock.keys());
      await withSessionHint(session, continueCommand, async () => {
        for (let round = 1; ; round += 1) {
          await count(invocation, counting, { isNew: beganNow && round === 1, readStock: () => stockOf(run) });
          const finish = { ...options, petIds, writeFile, failedOut, beganNow };
          const changed = await finishCount(run, counting, finish);
          if (changed.size === 0) break;
          for (const [petId, now] of changed) stock?.set(petId, now);
        }
      });
    } finally {
      session.close();
    }
  });
}

/** Adds a hint to an error that has none: the command that continues the count, unless the session has ended. */
async function withSessionHint(session: OpenCountSession, command: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isExpected = error instanceof PetstockError && !(error instanceof ChangesFound);
    if (!isExpected || !session.isOpen || error.hint !== undefined) throw error;
    throw error.with({ hint: command });
  }
}

function requireSameService({ invocation, connection }: RunAccess, chosen: readonly CountSession[]): void {
  const { baseUrl, serviceName } = connection;
  for (const { head } of chosen) {
    if (head.service === serviceName) continue;
    throw new UsageError(
      `Session ${shortOf({ head })} is for ${head.baseUrl}, but ${targetName(connection)} is now ${baseUrl}. Nothing was sent`,
      { hint: commandFor(invocation, ['--new'], {}, connection) },
    );
  }
}

/**
 * Opens the chosen session, a merged one, or a new one. A dry run changes no session and stores nothing, except for a
 * new session at a terminal, where a person may have scanned for hours.
 */
async function openChosen(
  sessions: CountSessions,
  chosen: readonly CountSession[],
  run: RunAccess,
  { given, ...options }: CountOptions & { readonly given: BarCodes | undefined },
): Promise<OpenCountSession> {
  const { dryRun, mode = 'count' } = options;
  const { invocation, connection } = run;
  const hasCodes = chosen.some(({ codes }) => codes.pets.size + codes.names.size > 0);
  const codes = given ?? (hasCodes ? undefined : ((await invocation.shopCodes()) ?? noBarCodes));
  const [first, ...others] = chosen;
  if (first === undefined) {
    const { env, store, serviceName, baseUrl } = connection;
    const head = { mode, env, store, service: serviceName, baseUrl, ...labelAndUser(run, options), session: '', at: 0 };
    const content = { head, codes: codes ?? noBarCodes, scans: [] };
    return dryRun && !invocation.context.stdin.isTerminal ? new OpenCountSession(content) : sessions.begin(content);
  }
  const opened: OpenCountSession[] = [];
  try {
    for (const each of chosen)
      opened.push(await openSettled(sessions, codes ? { ...each, codes } : each, run, options));
  } catch (error) {
    for (const session of opened) session.close();
    throw error;
  }
  if (opened[0] !== undefined && others.length === 0) return opened[0];
  for (const session of opened) session.close();
  return dryRun
    ? new OpenCountSession(mergedOf(opened, codes))
    : sessions.merge(chosen, codes, labelAndUser(run, options));
}

/** Returns the label and the user of a new session. */
function labelAndUser({ connection }: RunAccess, { label }: Pick<CountOptions, 'label'>) {
  const { user } = connection;
  return { ...(label !== undefined && { label }), ...(user !== undefined && { user }) };
}

/**
 * Opens a session, takes it unless this is a dry run, and settles its last run.
 * @throws UsageError if the session is finished, or if its run is unfinished
 */
async function openSettled(sessions: CountSessions, found: CountSession, run: RunAccess, options: CountOptions) {
  const isTaken = !options.dryRun && found.end === undefined;
  const session = isTaken ? sessions.take(found) : new OpenCountSession(found);
  try {
    if (found.end?.how === 'applied' && found.end.run !== null) await requireFinished(run, found, found.end.run);
    requireOpen(found, run.invocation);
    await settle(run, session, options.to !== undefined);
    if (session.isOpen) return session;
    const became = accountOf(session).run;
    if (became !== undefined) await requireFinished(run, session, became);
    throw new UsageError(`Session ${shortOf(session)} was applied. This command wrote nothing`, {
      hint: petstock`history show ${became ?? []}`,
    });
  } catch (error) {
    session.close();
    throw error;
  }
}

/**
 * Returns the stock of the service's pets, with one GET. Returns undefined if the service does not respond, or the rate
 * limit would require too long a wait: the count continues, and pets are checked at its end.
 * @param all whether pets that were not scanned count as 0, so that the list is needed and the error is thrown
 */
async function stockOf({ invocation, connection }: RunAccess, all = false) {
  const stock = new Map<bigint, number | undefined>();
  const onUnreadable = ({ petId }: UnreadableItem) => void stock.set(petId, undefined);
  try {
    for await (const items of connection.client.scanInventory({ onUnreadable })) {
      for (const { petId, quantity } of items) stock.set(petId, quantity);
    }
    return stock;
  } catch (error) {
    if (all || !(error instanceof UnavailableError || error instanceof RateLimitedError)) throw error;
    await invocation.messages.warn(
      `${sentence(error.message)} Pet ids are checked once the count is done`,
      ...serviceQuotes(error),
    );
    return undefined;
  }
}

/**
 * Reads lines until the count is done.
 * @throws InterruptedError with what was counted
 */
async function count(
  invocation: Invocation,
  counting: Counting,
  { isNew, readStock }: { readonly isNew: boolean; readonly readStock: () => ReturnType<typeof stockOf> },
): Promise<void> {
  const { stdin, interrupted } = invocation.context;
  const { session } = counting;
  const { mode } = session.head;
  const screen = createCountScreen(invocation, () => counting.account.tally, { mode, names: session.codes.names });
  if (stdin.isTerminal) await introduce(invocation, counting, isNew);
  else if (!isNew) await invocation.messages.note(`Session ${shortOf(session)}${resumedText(counting)}.`);
  let isDone = false;
  try {
    // Keys are read without echo if possible. A scanner is faster than the screen, so echoed codes would be mixed with
    // petstock's output.
    const keys = screen.typing && stdin.keys?.();
    await screen.begin?.();
    for await (const lines of linesOf(keys || stdin.chunks, keys && screen.typing)) {
      // A code is assigned only to a pet that the service has.
      if (!stdin.isTerminal && lines.some(isAssigning)) counting.known.stock ??= await readStock();
      const taken = counting.take(lines);
      isDone = taken.isDone;
      if (!isDone) interrupted.throwIfAborted();
      // Lines that arrive together with the end are also shown.
      if (!isDone || taken.events.length > 0) await screen.show(taken.events);
      if (isDone) break;
    }
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    throw error.with({ message: `Interrupted. ${remainderText(counting, isNew)}` });
  } finally {
    await screen.stop?.(!isDone);
  }
}

/** Describes what an interrupted count leaves. Discards a new session without a scan. */
function remainderText({ session, account: { tally } }: Counting, isNew: boolean): string {
  if (!session.isKept) return 'The dry run stored nothing, and the sessions are unchanged';
  if (!isNew || !tally.isEmpty) {
    return `Session ${shortOf(session)} keeps ${sumText(tally, session.head.mode)}`;
  }
  session.end({ how: 'discarded' });
  return 'Nothing was counted';
}

function resumedText({ session, account }: Counting): string {
  return ` is resumed: ${sumText(account.tally, session.head.mode)}`;
}

async function introduce({ messages }: Invocation, counting: Counting, isNew: boolean): Promise<void> {
  const { session } = counting;
  const { mode } = session.head;
  const state = isNew ? '' : resumedText(counting);
  const what = mode === 'count' ? '' : ` It is ${modeName(mode)}.`;
  await messages.note(`Session ${shortOf(session)}${state}.${what} Scan, or type a pet id and Enter.`);
  if (!session.isKept) await messages.note('This is a dry run: it changes no session, and scans are not saved.');
  await messages.note(countHelp);
}
