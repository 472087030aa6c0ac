import type { ReadStock } from '../../writes/row-write.ts';
import { createStockReader, type StockReader } from '../../writes/stock-reader.ts';
import type { Connection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';

/** A connection for one run, and what reads the stock for it. */
export interface Session {
  readonly invocation: Invocation;
  readonly connection: Connection;
  readonly readStock: ReadStock;
  readonly readSettledStock: StockReader['readSettledStock'];
}

export async function openSession(invocation: Invocation): Promise<Session> {
  const connection = await invocation.service.connect({ bulk: true, writes: true });
  const { client, service, state } = connection;
  const { clock, interrupted } = invocation.context;
  const onDelay = (sentence: string) => invocation.messages.note(`${sentence}.`);
  return {
    invocation,
    connection,
    ...createStockReader({ client, pets: state.pets, service, clock, interrupted, onDelay }),
  };
}
