import { Refusal } from '../http/answer.ts';
import { isInt64 } from './integer.ts';

/**
 * The petId of a path, exact.
 * @throws Refusal 400 when it is not an int64 in decimal
 */
export function parsePetId(text: string): bigint {
  const petId = /^(0|-?[1-9]\d{0,18})$/.test(text) ? BigInt(text) : null;
  if (petId === null || !isInt64(petId)) {
    throw new Refusal(400, 'invalid_pet_id', 'petId must be an integer of 64 bits in decimal.');
  }
  return petId;
}
