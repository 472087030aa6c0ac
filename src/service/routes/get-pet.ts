import type { Answer } from '../http/answer.ts';
import { petNotFound } from './item.ts';
import { parsePetId } from './pet-id.ts';
import type { Call } from './route.ts';

/** GET /pets/{petId}, deprecated. Its payload is not specified: ours is the record that was imported, or what the inventory knows. */
export async function getPet({ store, parameter }: Call): Promise<Answer> {
  const petId = parsePetId(parameter);
  const pet = await store.find(petId);
  if (pet === null) throw petNotFound(petId);
  if (pet.record !== undefined) return { status: 200, body: pet.record };
  return { status: 200, body: `{"petId":${pet.petId},"status":${JSON.stringify(pet.status)}}` };
}
