import { NotFoundError } from '../../shared/errors.ts';
import type { RunRecord } from '../../state/history.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { withExistingState } from '../invocation/state.ts';

/**
 * The run that a person means, before anything is asked of its environment.
 * @param text its id, or the last four characters of it
 * @throws UsageError, NotFoundError
 */
export function requireRun(invocation: Invocation, command: string, text: string): Promise<RunRecord> {
  return withExistingState(invocation, command, async (state) => {
    if (state === undefined) {
      throw new NotFoundError(`There is no run ${text} in the history`, { hint: 'petstock history list' });
    }
    return state.history.run(await state.history.find(text));
  });
}
