import { type Answer, Refusal } from '../http/answer.ts';
import type { InventoryItem } from '../seed/stock.ts';

/** An InventoryItem as an answer; its numbers are written from bigints, digit by digit. */
export function itemAnswer({ petId, quantity, status }: InventoryItem): Answer {
  return { status: 200, body: `{"petId":${petId},"quantity":${quantity},"status":${JSON.stringify(status)}}` };
}

export function petNotFound(petId: bigint): Refusal {
  return new Refusal(404, 'pet_not_found', `There is no pet ${petId}.`);
}
