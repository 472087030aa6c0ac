import { openClaimsOf } from '../cli/invocation/claims.ts';
import type { Connection } from '../cli/invocation/connect.ts';
import type { Invocation } from '../cli/invocation/invocation.ts';
import type { Claims, Mark } from '../history/claims/claims.ts';
import { readStockOf } from './stock.ts';

/** A connection for one bulk run, and what keeps it apart from other commands of this machine. */
export interface BulkSession {
  readonly connection: Connection;
  readonly claims: Claims;
  /** One GET, unless no pet is asked for. What other commands write from here on is noticed before a row is written. */
  readStock(petIds: ReadonlySet<bigint>): Promise<Stock>;
}

export interface Stock {
  readonly quantities: ReadonlyMap<bigint, number>;
  /** The moment before it was read, in the order of all writes of this machine. */
  readonly mark: Mark;
}

/** Opens a session, lets it be used, and closes it. */
export async function withBulkSession<T>(
  invocation: Invocation,
  use: (session: BulkSession) => Promise<T>,
): Promise<T> {
  const connection = await invocation.connect({ bulk: true });
  const claims = openClaimsOf(invocation, connection);
  try {
    return await use({
      connection,
      claims,
      readStock: async (petIds) => {
        const mark = claims.mark();
        // A run that has nothing to look at spends no request.
        return { mark, quantities: petIds.size === 0 ? new Map() : await readStockOf(connection.client, petIds) };
      },
    });
  } finally {
    claims.close();
  }
}
