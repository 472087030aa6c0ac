import type { Answer } from '../http/answer.ts';
import type { Call } from './route.ts';

/** GET /store/orders. Its payload is not specified: the orders that were imported, as they were. */
export async function listOrders({ store }: Call): Promise<Answer> {
  return { status: 200, body: `[${(await store.orders()).join(',')}]` };
}
