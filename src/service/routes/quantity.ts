import { Refusal } from '../http/answer.ts';
import { exactInt64 } from './integer.ts';
import type { QuantityBounds } from './route.ts';

/**
 * The quantity of an InventoryUpdate, exact. Other fields are ignored.
 * @throws Refusal 400 when the text is not JSON, or `quantity` is missing, not an integer, or out of bounds
 */
export async function parseQuantity(body: string, bounds: QuantityBounds): Promise<bigint> {
  const update = await parseJson(body);
  if (typeof update !== 'object' || update === null || Array.isArray(update) || update instanceof NumberText) {
    throw new Refusal(400, 'invalid_body', 'The body must be a JSON object with the field quantity.');
  }
  const field = Object.entries(update).find(([name]) => name === 'quantity');
  if (field === undefined) throw new Refusal(400, 'missing_quantity', 'The field quantity is required.');
  const quantity = field[1] instanceof NumberText ? exactInt64(field[1].text) : null;
  if (quantity === null) throw new Refusal(400, 'invalid_quantity', 'quantity must be an integer of 64 bits.');
  if (bounds.min !== null && quantity < bounds.min) throw outOfBounds(`at least ${bounds.min}`);
  if (bounds.max !== null && quantity > bounds.max) throw outOfBounds(`at most ${bounds.max}`);
  return quantity;
}

/** A number as it was written. */
class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Refuses what JSON.parse would, and an object that has two different values for one name. */
async function parseJson(text: string): Promise<unknown> {
  const { parse } = await import('lossless-json');
  try {
    return parse(text, null, (number) => new NumberText(number));
  } catch {
    throw new Refusal(400, 'invalid_json', 'The body is not valid JSON.');
  }
}

function outOfBounds(bound: string): Refusal {
  return new Refusal(400, 'invalid_quantity', `quantity must be ${bound}.`);
}
