import { type KnownKey, knownKeys } from '../../rate-limit/limits-row.ts';
import { FailureError, UnavailableError } from '../../shared/errors.ts';
import { sentence } from '../../shared/parsed.ts';
import type { Invocation } from './invocation.ts';
import { existingState, gatesOf } from './state-access.ts';

/** Returns what is known of each key without a request: the gates alone, with a warning, if the state can't be used. */
export async function lastKnownKeys(invocation: Invocation): Promise<readonly KnownKey[]> {
  const { context, messages } = invocation;
  const gates = gatesOf(context);
  try {
    return await knownKeys((await existingState(invocation))?.state, gates, context.clock);
  } catch (error) {
    if (!(error instanceof FailureError || error instanceof UnavailableError)) throw error;
    await messages.warn(`${sentence(error.message)} Only the waits that this machine was asked for are known`);
    return knownKeys(undefined, gates, context.clock);
  }
}
