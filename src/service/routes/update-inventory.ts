import { Refusal } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import type { Exchange } from '../http/exchange.ts';
import { itemAnswer, petNotFound } from './item.ts';
import { parsePetId } from './pet-id.ts';
import { parseQuantity } from './quantity.ts';
import type { Call } from './route.ts';

/** PATCH /inventory/{petId}: sets the quantity of one pet. The status stays: the specification gives no transitions. */
export async function updateInventory({ exchange, store, bounds, parameter }: Call) {
  requireJson(exchange);
  const body = await readBody(exchange);
  const petId = parsePetId(parameter);
  const quantity = await parseQuantity(body, bounds);
  const item = await store.setQuantity(petId, quantity);
  if (item === null) throw petNotFound(petId);
  return itemAnswer(item);
}

/** `application/json`, whatever its parameters, and not compressed. */
function requireJson({ request }: Exchange): void {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new Refusal(415, 'unsupported_media_type', 'The body must be application/json.', {
      'Accept-Patch': 'application/json',
    });
  }
  const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    throw new Refusal(415, 'unsupported_media_type', 'The body must not be compressed.', {
      'Accept-Encoding': 'identity',
    });
  }
}
