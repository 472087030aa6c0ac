import type { Claims } from '../../../history/claims/claims.ts';
import { ConflictError } from '../../../shared/errors.ts';
import { openClaimsOf } from '../../invocation/claims.ts';
import type { Connection } from '../../invocation/connect.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/** How long to wait for another command, in milliseconds: it may itself wait for the rate limit. */
const patience = 90_000;
const poll = { first: 10, longest: 250 };

/**
 * Reads and writes one pet in turn with the other commands of this machine, first come, first served: several that adjust
 * the same pet at once then add up, though the service can only set.
 *
 * @param write reads the stock if it relies on it, and writes
 * @throws ConflictError where another command does not come to its end
 */
export async function inTurn<T>(
  invocation: Invocation,
  connection: Connection,
  petId: bigint,
  write: () => Promise<T>,
): Promise<T> {
  const claims = openClaimsOf(invocation, connection);
  try {
    claims.claim(petId, undefined);
    await turnOf(invocation, claims, petId);
    const written = await write();
    claims.done(petId);
    return written;
  } finally {
    // A claim that is not done is taken for written by whoever relies on an older stock: that is safe.
    claims.close();
  }
}

async function turnOf({ context, note }: Invocation, claims: Claims, petId: bigint): Promise<void> {
  const { clock, interrupted } = context;
  const began = clock.monotonic();
  let pause = poll.first;
  let told = false;
  while (claims.waitsFor(petId)) {
    const waited = clock.monotonic() - began;
    if (waited > patience) {
      throw new ConflictError(
        `Another command on this machine has been writing pet ${petId} for ${patience / 1000} s; nothing was written`,
      );
    }
    if (waited > 1000 && !told) {
      told = true;
      await note(`Waiting for another command on this machine that writes pet ${petId}.`);
    }
    await clock.sleep(pause, interrupted);
    pause = Math.min(pause * 2, poll.longest);
  }
}
