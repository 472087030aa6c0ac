import type { Answer } from '../http/answer.ts';

/** GET /store/orders. Its payload is not specified, and nothing orders here: an empty list. */
export async function listOrders(): Promise<Answer> {
  return { status: 200, body: '[]' };
}
