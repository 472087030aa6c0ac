import { hasLostScan, type ReadSession } from '../../../../counts/read-session.ts';
import { shortOf } from '../../../../counts/session-log.ts';
import { tallyOf } from '../../../../counts/sessions.ts';
import { grouped } from '../../../../inventory/grouped.ts';
import { sumText } from '../../../../output/count-text.ts';
import { FailureError } from '../../../../shared/errors.ts';
import type { Invocation } from '../../../invocation/invocation.ts';

/** @throws FailureError where lines of a session can't be read, and no person agrees to go on without them */
export async function requireSound({ context, questions }: Invocation, session: ReadSession): Promise<void> {
  const { damage, hasHead } = session;
  if (damage.length === 0) return;
  const name = shortOf(session);
  const what = `Session ${name} is damaged: ${damageText(damage)} of its file can't be read`;
  if (hasHead && context.stdin.isTerminal && context.stderr.isTerminal) {
    const question = `${what}. Go on with the rest (${sumText(tallyOf(session))})?`;
    if (!questions.willAsk() || (await context.prompts.confirm(question))) return;
  }
  throw new FailureError(`${what}. Nothing was sent; the file is ${session.path}`, {
    hint: `petstock inventory count --discard ${name}`,
  });
}

/** What a crash cut off was never confirmed: the person may think that it counts. */
export async function warnOfLostScan({ messages }: Invocation, session: ReadSession): Promise<void> {
  if (!hasLostScan(session)) return;
  const which = `The last scan of session ${shortOf(session)}`;
  await messages.alert(`${which} was cut off while it was written, and is not counted: scan it again`);
}

/** `line 3`, `lines 3 and 7`, `lines 3, 4, 5 and 12 more` */
function damageText(damage: readonly number[]): string {
  if (damage.length === 1) return `line ${damage[0]}`;
  const shown = damage.slice(0, damage.length > 4 ? 3 : damage.length - 1);
  const rest = damage.length > 4 ? `${grouped(damage.length - shown.length)} more` : damage.at(-1);
  return `lines ${shown.join(', ')} and ${rest}`;
}
