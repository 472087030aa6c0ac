import { counted } from '../../../inventory/items.ts';
import type { RunRecord } from '../../../inventory/run-records.ts';
import { recordView } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { History } from '../../../state/history.ts';
import { isNamed, namedTarget } from '../../invocation/globals.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { existingState } from '../../invocation/state-access.ts';
import { define, wholeNumber } from '../command.ts';
import { namedTargetText, parseDate } from './selection.ts';

export const historyPruneCommand = define({
  summary: 'remove old runs',
  needsConfig: true,
  description:
    'Removes runs from the history, after a confirmation: they can no longer be shown or undone. Incomplete runs can ' +
    'be resumed, so they and all newer runs stay, unless --incomplete is given. Without options, ' +
    'removes runs older than the setting keep-history. Covers every store and environment, unless --store, --env or their variables name one.',
  options: [
    ['--before <date>', 'remove runs before this time: 2026-01-15, or 90d for those older than 90 days'],
    ['--keep <n>', 'keep the latest n runs', wholeNumber],
    ['--incomplete', 'also remove incomplete runs'],
  ],
  examples: [['petstock history prune --before 90d'], ['petstock history prune --keep 1000 --yes']],
  run: async function* (invocation, { before, keep, incomplete = false }) {
    const days = invocation.config.settings['keep-history'];
    if (before === undefined && keep === undefined && days === undefined) {
      throw new UsageError('An option is missing. Pass --before <date>, --keep <n>, or both', {
        hint: 'petstock history prune --before 90d',
      });
    }
    const now = invocation.context.clock.now();
    const bounds = {
      before: parseDate('--before', before ?? (keep === undefined ? `${days}d` : undefined), now, 'start'),
      keep,
      incomplete,
    };
    const found = await existingState(invocation);
    const none = { removed: 0, kept: 0 };
    const { removed, kept } = found === undefined ? none : await removeRuns(invocation, found.history, bounds);
    const { env = null, store = null } = namedTarget(invocation);
    if (invocation.results.isFormatNamed) yield recordView({ env, store, removed, kept });
    await invocation.messages.note(`Removed ${counted(removed, 'run')} of ${namedTargetText(invocation)}.`);
  },
});

/** Selects the runs to remove. If both bounds are set, only runs beyond both are removed. */
interface PruneBounds {
  /** Runs that began before this time are removed. The time is in milliseconds since the Unix epoch. */
  readonly before: number | undefined;
  /** How many of the newest runs are kept. */
  readonly keep: number | undefined;
  readonly incomplete: boolean;
}

async function removeRuns(
  invocation: Invocation,
  history: History,
  { before = Number.POSITIVE_INFINITY, keep = 0, incomplete }: PruneBounds,
): Promise<{ readonly removed: number; readonly kept: number }> {
  const all: RunRecord[] = [];
  for await (const run of history.runs()) all.push(run);
  const past = all.filter((run) => isNamed(invocation, run)).filter(({ at }, index) => at < before && index >= keep);
  const wanted = past.filter(({ state }) => state === 'done' || (state === 'incomplete' && incomplete));
  const runs = await history.removable(all, new Set(wanted.map(({ run }) => run)));
  const kept = past.length - runs.length;
  if (kept > 0) await invocation.messages.note(keptText(kept));
  if (runs.length === 0) return { removed: 0, kept };
  await invocation.questions.confirm({
    question: `Remove ${counted(runs.length, 'run')} of ${namedTargetText(invocation)} for good?`,
    notDone: 'Nothing was removed',
  });
  const removed = await history.remove(runs);
  const left = runs.length - removed;
  if (left > 0) await invocation.messages.note(keptText(left));
  return { removed, kept: kept + left };
}

function keptText(runs: number): string {
  const stay = runs === 1 ? 'stays. It is' : 'stay. Each is';
  return `${counted(runs, 'run')} ${stay} unfinished, or a run that stays needs it.`;
}
