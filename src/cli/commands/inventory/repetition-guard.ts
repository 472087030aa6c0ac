import { UsageError } from '../../../shared/errors.ts';
import { whereOptions } from '../../../shared/where.ts';
import type { RunRecord } from '../../../state/history.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import type { Session } from '../../runs/session.ts';

export interface RepeatedFile {
  readonly file: string;
  readonly contentHash: string;
  readonly hasDeltas: boolean;
}

/**
 * Creates what is to be called before anything is read for a change file, and again right before its run is recorded. A file is
 * remembered by its content, so that a retry after a crash, or a second process, does not count twice.
 *
 * @param again that it has been applied before is meant
 * @returns throws UsageError where a run of it is not finished; or, off a terminal, where it has deltas and one has written them; or
 *   where one has since the first call
 */
export function repetitionGuard(
  { invocation, connection }: Session,
  repeated: RepeatedFile,
  { again }: { readonly again: boolean },
): () => Promise<void> {
  const { file, contentHash, hasDeltas } = repeated;
  const name = file === '-' ? 'This input' : file;
  let known: ReadonlySet<string> | undefined;
  return async () => {
    const runs = await connection.state.history.runsOfFile(connection.service, contentHash);
    if (known === undefined && runs.length === 0 && hasDeltas && file !== '-') {
      await warnOfSameName(invocation, connection, file);
    }
    refuseUnfinished(name, runs);
    const written = hasDeltas ? runs.find((run) => !known?.has(run.run) && hasWritten(run)) : undefined;
    const isFirst = known === undefined;
    known = new Set(runs.map(({ run }) => run));
    if (written === undefined) return;
    const what = `${name} was applied already, by run ${written.run}, and its deltas would be added once more`;
    if (again || (isFirst && invocation.questions.willAsk(file === '-'))) await invocation.messages.alert(what);
    else
      throw new UsageError(`${what}; nothing was sent. Pass --again if that is meant`, {
        hint: `petstock history show ${written.run}`,
      });
  };
}

/** @throws UsageError */
function refuseUnfinished(name: string, runs: readonly RunRecord[]): void {
  const running = runs.find(({ state }) => state === 'running');
  if (running !== undefined) {
    throw new UsageError(`${name} is being applied by run ${running.run}; nothing was sent`, {
      hint: `petstock history show ${running.run}`,
    });
  }
  const open = runs.find(({ state }) => state !== 'done');
  if (open !== undefined) {
    throw new UsageError(`${name} was applied already, and run ${open.run} of it is not finished; nothing was sent`, {
      hint: `petstock inventory apply --resume ${open.run} ${whereOptions(open)}`,
    });
  }
}

/** Anything that was not taken back. */
function hasWritten({ counts, undone }: RunRecord): boolean {
  return counts.applied + counts.differs > undone;
}

/** petstock 0.1.0 kept the name of a file and not its content: a file of that name may be the same one, or another. */
async function warnOfSameName(
  { messages }: Invocation,
  { state, service }: Session['connection'],
  file: string,
): Promise<void> {
  const earlier = await state.history.runOfFileName(service, file);
  if (earlier === undefined || earlier.counts.applied <= earlier.undone) return;
  await messages.alert(
    `A file named ${file} was applied by run ${earlier.run}. Its content was not kept, so it is not known whether its deltas would be ` +
      `added once more (petstock history show ${earlier.run})`,
  );
}
