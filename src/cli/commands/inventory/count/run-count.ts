import { OpenSession } from '../../../../counts/open-session.ts';
import type { SessionFacts } from '../../../../counts/session-tables.ts';
import { mergedOf, type Sessions, shortOf } from '../../../../counts/sessions.ts';
import { type BarCodes, noBarCodes } from '../../../../inventory/bar-codes.ts';
import { itemsOf } from '../../../../inventory/item-columns.ts';
import type { UnreadableItem } from '../../../../inventory/items.ts';
import { countHelp, modeName, sumText } from '../../../../output/count-text.ts';
import { withoutWords } from '../../../../output/error-text.ts';
import {
  ChangesFound,
  InterruptedError,
  PetstockError,
  RateLimitedError,
  UnavailableError,
  UsageError,
} from '../../../../shared/errors.ts';
import { sentence } from '../../../../shared/parsed.ts';
import { whereName } from '../../../../shared/where.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { openRunAccess, type RunAccess } from '../../../runs/run-access.ts';
import { readCodesFile } from '../../../shop-codes.ts';
import { chooseSessions, requireOpen } from './choose-session.ts';
import { type CountOptions, chosenWords, commandFor } from './count-options.ts';
import { Counting } from './counting.ts';
import { changeFileWriter, finishCount } from './finish-count.ts';
import { linesOf } from './lines.ts';
import { withSessions } from './list-sessions.ts';
import { requireLeft, restOf, withRest } from './rest.ts';
import { createCountScreen } from './screen.ts';

export async function runCount(invocation: Invocation, options: CountOptions): Promise<void> {
  const { flags } = options;
  const { where } = invocation;
  if (!options.dryRun && options.to === undefined) {
    invocation.questions.requireAnswer({ look: commandFor(chosenWords(options), { ...flags, dryRun: true }, where) });
  }
  const writeFile = await changeFileWriter(invocation, options);
  const given = options.codes === undefined ? undefined : await readCodesFile(options.codes, invocation.context);
  await withSessions(invocation, async (sessions) => {
    const chosen = await chooseSessions(invocation, sessions, options);
    const run = await openRunAccess(invocation);
    requireSameService(run, chosen, options);
    const { isTerminal } = invocation.context.stdin;
    if (isTerminal) await invocation.service.announce();
    // What is scanned at a terminal is answered at once; what comes through a pipe is checked at the end.
    const petIds = isTerminal || options.all ? await petIdsOf(run, options.all) : undefined;
    const session = await openChosen(sessions, chosen, run, { ...options, given });
    try {
      const counting = new Counting(session, { codes: session.codes, petIds, isTyped: isTerminal });
      const wayOn = session.isKept
        ? commandFor(` ${shortOf(session)}`, { ...flags, codes: undefined }, where)
        : commandFor(chosenWords(options), flags, where);
      await keepingSession(session, wayOn, async () => {
        const beganNow = chosen.length === 0;
        await count(invocation, counting, beganNow);
        await finishCount(run, counting, { ...options, petIds, writeFile, wayOn, beganNow });
      });
    } catch (error) {
      if (session.isOpen || !session.isKept) throw error;
      const left = { error, flags: { ...flags, codes: undefined, all: undefined } };
      throw await withRest(run, sessions, session, left).catch(() => error);
    } finally {
      session.close();
    }
  });
}

/** Whatever ends a count, except for its own end, says how to go on: the sessions are as they were. */
async function keepingSession(session: OpenSession, command: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isExpected = error instanceof PetstockError && !(error instanceof ChangesFound);
    if (!isExpected || !session.isOpen || error.hint !== undefined) throw error;
    throw error.with({ hint: command });
  }
}

function requireSameService({ connection }: RunAccess, chosen: readonly SessionFacts[], { flags }: CountOptions): void {
  const { baseUrl, service } = connection;
  for (const { head } of chosen) {
    if (head.service === service) continue;
    throw new UsageError(
      `Session ${shortOf({ head })} counts ${head.baseUrl}, and ${whereName(connection)} is now ${baseUrl}; nothing was sent`,
      { hint: commandFor(' --new', flags, connection) },
    );
  }
}

/**
 * Takes the session that was chosen. A dry run leaves sessions as they were: nothing of it is kept, except for a new session of a person, who
 * may have scanned for hours.
 */
async function openChosen(
  sessions: Sessions,
  chosen: readonly SessionFacts[],
  run: RunAccess,
  { given, ...options }: CountOptions & { readonly given: BarCodes | undefined },
): Promise<OpenSession> {
  const { dryRun, mode = 'count' } = options;
  const { invocation, connection } = run;
  const hasCodes = chosen.some(({ codes }) => codes.pets.size + codes.names.size > 0);
  const codes = given ?? (hasCodes ? undefined : ((await invocation.shopCodes()) ?? noBarCodes));
  const [found, ...others] = chosen;
  if (found === undefined) {
    const { env, store, service, baseUrl } = connection;
    const head = { mode, env, store, service, baseUrl, merged: [], session: '', at: 0 };
    const content = { head, codes: codes ?? noBarCodes, scans: [] };
    return dryRun && !invocation.context.stdin.isTerminal ? new OpenSession(content) : sessions.begin(content);
  }
  if (others.length > 0) {
    for (const source of chosen) {
      const rest = await restOf(run, source);
      if (rest !== undefined) requireLeft(source, { ...rest, scans: [] }, options);
    }
    return dryRun ? new OpenSession(mergedOf(chosen, codes)) : sessions.merge(chosen, codes);
  }
  return goOn(sessions, codes === undefined ? found : { ...found, codes }, run, options);
}

/** Takes a session, or begins one with what its run has left. @throws UsageError if there is nothing to go on with */
async function goOn(sessions: Sessions, found: SessionFacts, run: RunAccess, options: CountOptions) {
  const { dryRun } = options;
  const isTaken = !dryRun && found.end === undefined;
  const session = isTaken ? sessions.take(found) : new OpenSession(found);
  try {
    const rest = await restOf(run, { ...session, end: found.end });
    if (rest === undefined) {
      requireOpen(found, options);
      return session;
    }
    session.end({ how: 'applied', run: rest.run.run });
    requireLeft(found, rest, options);
    return dryRun ? new OpenSession({ ...session, scans: rest.scans }) : sessions.follow(session, rest.scans);
  } catch (error) {
    session.close();
    throw error;
  }
}

/**
 * Returns the pets that the service has: one GET. Without an answer the count goes on, and they are looked at in the end.
 * @param all they are all to be counted: without them that can't be
 */
async function petIdsOf({ invocation, connection }: RunAccess, all = false): Promise<ReadonlySet<bigint> | undefined> {
  const petIds = new Set<bigint>();
  const onUnreadable = ({ petId }: UnreadableItem) => void petIds.add(petId);
  try {
    for await (const items of itemsOf(connection.client.scanInventory({ onUnreadable }))) {
      for (const { petId } of items) petIds.add(petId);
    }
    return petIds;
  } catch (error) {
    if (all || !(error instanceof UnavailableError || error instanceof RateLimitedError)) throw error;
    const { own, words } = withoutWords(error);
    await invocation.messages.warn(`${sentence(own)} Pet ids are checked once the count is done`, words[0]);
    return undefined;
  }
}

/** Reads lines until the count is done. @throws InterruptedError, which says what there is */
async function count(invocation: Invocation, counting: Counting, isNew: boolean): Promise<void> {
  const { stdin, interrupted } = invocation.context;
  const { tally, session } = counting;
  const { mode } = session.head;
  const screen = createCountScreen(invocation, () => tally, { mode, names: session.codes.names });
  if (stdin.isTerminal) await introduce(invocation, counting, isNew);
  let isDone = false;
  try {
    await screen.begin?.();
    // A scanner is faster than the screen: if the terminal echoed its codes, they would mix with what is said of them.
    const keys = screen.typing && stdin.keys?.();
    for await (const lines of linesOf(keys || stdin.chunks, keys && screen.typing)) {
      const taken = counting.take(lines);
      isDone = taken.isDone;
      if (!isDone) interrupted.throwIfAborted();
      // What came in one piece with the end is said, too.
      if (!isDone || taken.events.length > 0) await screen.show(taken.events);
      if (isDone) break;
    }
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    throw error.with({ message: `Interrupted; ${leftBy(counting, isNew)}` });
  } finally {
    await screen.stop?.(!isDone);
  }
}

/** Says what an interrupted count leaves; a session without a scan is discarded. */
function leftBy({ session, tally }: Counting, isNew: boolean): string {
  if (!session.isKept) return 'nothing of the dry run is kept, and the sessions are as they were';
  if (!isNew || tally.pets > 0 || tally.unknownUnits > 0) {
    return `session ${shortOf(session)} keeps ${sumText(tally, session.head.mode)}`;
  }
  session.end({ how: 'discarded' });
  return 'nothing was counted';
}

async function introduce({ messages }: Invocation, { session, tally }: Counting, isNew: boolean): Promise<void> {
  const { mode } = session.head;
  const state = isNew ? '' : ` goes on: ${sumText(tally, mode)}`;
  const what = mode === 'count' ? '' : ` It is ${modeName(mode)}.`;
  await messages.note(`Session ${shortOf(session)}${state}.${what} Scan, or type a pet id and Enter.`);
  if (!session.isKept)
    await messages.note('This is a dry run: the session stays as it was, and nothing scanned now is kept.');
  await messages.note(countHelp);
}
