import { type SeenLines, seenChangesLines, seenChangesView } from '../../../output/difference-view.ts';
import type { Format } from '../../../output/view.ts';
import { ChangesFound, ClosedPipeError, endingSignalOf, UsageError } from '../../../shared/errors.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define, fieldsOption, known, listOf } from '../command.ts';
import { chosenPets } from '../option-values.ts';
import { type TextOptions, textOptions, textsOf } from './field-filters.ts';
import { type WatchOptions, watchChanges } from './watch-changes.ts';

const defaultInterval = 15;

export const watchCommand = define({
  summary: 'show stock changes as they happen',
  // A JSON array would have no end.
  formats: ['table', 'ndjson', 'csv', 'tsv'],
  description:
    'Polls the stock and prints a line for each change: with the time on a terminal, as NDJSON elsewhere. Each ' +
    'check takes one request. Checks use at most a tenth of the rate limit; if that requires a longer ' +
    "interval, petstock says so. Service errors don't end it, except a rejected key (401). Ctrl-C ends it with exit " +
    'code 0, and so does a closed pipe (| head): within seconds, or, where there is no GNU tail, with the next change.',
  options: [
    ['--interval <s>', `seconds from one check to the next (default: ${defaultInterval})`],
    ['--pet <id,…>', 'only these pets, by id or name', listOf(known('pets'))],
    ['--name <text>', 'only pets with this text in their name (names come from the setting codes)'],
    ...textOptions('only pets that have, or just had, one of these'),
    [
      '--low',
      'only available pets whose stock falls to their level or further below it (in the codes file, or else the setting low-stock)',
    ],
    ['--for <s>', 'end after this many seconds'],
    ['--first', 'exit with code 0 after the first check that finds a change, or with code 3 if --for ends without one'],
    ['--now', 'print the current stock first'],
    fieldsOption,
  ],
  examples: [
    ['petstock inventory watch --for 2 --interval 1', 'for two seconds'],
    [
      'petstock inventory watch --low --first --for 3 || echo "nothing is running low"',
      'wait until a pet is running low',
    ],
    ['petstock inventory watch --pet 4,5 --now --for 1 -o ndjson', 'for a script'],
  ],
  run: async (invocation, flags) => {
    const interval = secondsOf('--interval', flags.interval) ?? defaultInterval;
    if (interval < minInterval) throw new UsageError(`--interval takes ${minInterval} seconds or more`);
    const duration = secondsOf('--for', flags.for);
    const { low = false, first = false, now = false } = flags;
    const { results, context } = invocation;
    const format = results.isFormatNamed || context.stdout.isTerminal ? results.format : 'ndjson';
    const reader = new AbortController();
    const stopWatching = await context.watchReader(() => reader.abort(new ClosedPipeError('No reader')));
    const watching = runWatch(invocation, format, {
      ...{ interval: interval * 1000, duration: duration && duration * 1000, low, first, now },
      petIds: await chosenPets(invocation, flags),
      texts: textsOf(flags as TextOptions),
      ended: AbortSignal.any([context.interrupted, reader.signal]),
    });
    await watching.finally(stopWatching);
  },
});

/** Minimum time between two checks, in seconds, whatever the rate limit. */
const minInterval = 0.1;

/**
 * Returns the value of an option in seconds; undefined if the option is absent.
 * @throws UsageError unless it is a positive number
 */
function secondsOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,7}(\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError(`${option} takes a number of seconds, such as 15, not "${text}"`);
}

/**
 * Prints the changes; in the format `table`, as lines for a person.
 * @throws AuthError after a 401; ChangesFound if `first` is set and nothing changed in time
 */
async function runWatch(invocation: Invocation, format: Format, options: WatchOptions): Promise<void> {
  const { results, context } = invocation;
  const { low, names } = await invocation.remarks();
  const noChanges = seenChangesView({ at: 0, changes: [], isPresent: false, longestId: 0n }, names);
  await results.requireFields(noChanges);
  await invocation.connections.connect({ bulk: true, isShown: true });
  let [changes, isFirst] = [0, true];
  let lines: SeenLines | undefined;
  try {
    for await (const facts of watchChanges(invocation, options)) {
      if (!facts.isPresent) changes += facts.changes.length;
      // The changes of a check are written before the next check, so that a closed stdout is noticed at once.
      if (format === 'table') {
        await results.show((options) => {
          lines ??= seenChangesLines(facts.longestId, names, { ...options, low });
          return `${isFirst ? lines.head : ''}${lines.of(facts)}`;
        });
      } else {
        await results.print(seenChangesView(facts, names), { format, ...(!isFirst && { header: false }) });
      }
      isFirst = false;
    }
  } catch (error) {
    // Ctrl-C is the normal end; SIGTERM and SIGHUP have other exit codes.
    if (!context.interrupted.aborted || endingSignalOf(context.interrupted) !== 'SIGINT') throw error;
  }
  if (isFirst && format !== 'table') await results.print(noChanges, { format, ignoreInterrupt: true });
  if (context.interrupted.aborted) return;
  if (options.first && changes === 0) throw new ChangesFound('Nothing has changed');
}
