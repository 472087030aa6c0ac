import type { Client } from '../../api/client.ts';
import { createFilter } from '../../inventory/filter.ts';
import type { Permit } from '../../rate-limit/governor.ts';
import type { ReadStock } from '../../writes/row-write.ts';
import type { Connection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';

/** A connection for one run, and what reads the stock for it. */
export interface Session {
  readonly invocation: Invocation;
  readonly connection: Connection;
  /** One GET, unless no pet is asked for. What other commands write from here on is noticed before a row is written. */
  readonly readStock: ReadStock;
}

export async function openSession(invocation: Invocation): Promise<Session> {
  const connection = await invocation.service.connect({ bulk: true, writes: true });
  const { state, client } = connection;
  const readStock: ReadStock = async (petIds, permit) => {
    const mark = await state.pets.mark();
    // A run that has nothing to look at spends no request.
    return { mark, quantities: petIds.size === 0 ? new Map() : await quantitiesOf(client, petIds, permit) };
  };
  return { invocation, connection, readStock };
}

/** A pet that the service does not have is missing. */
async function quantitiesOf(
  client: Pick<Client, 'scanInventory'>,
  petIds: ReadonlySet<bigint>,
  permit: Permit | undefined,
): Promise<ReadonlyMap<bigint, number>> {
  const only = createFilter({ petIds });
  const quantities = new Map<bigint, number>();
  for await (const batch of client.scanInventory({ permit })) {
    only(batch);
    for (const { petId, quantity } of batch.items()) quantities.set(petId, quantity);
  }
  return quantities;
}
