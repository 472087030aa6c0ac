import type { Store } from '../store/store.ts';
import { type Example, FIRST_PET } from './schemas.ts';

/** The first pet of the inventory whose id a reader of doubles gets right; that of the default stock where there is none. */
export async function examplePet(store: Store): Promise<Example> {
  const pages = store.inventory();
  const { value: page } = await pages.next();
  await pages.return();
  const items: readonly Example[] = JSON.parse(`[${page ?? ''}]`);
  return (
    items.find(({ petId, quantity }) => Number.isSafeInteger(petId) && Number.isSafeInteger(quantity)) ?? FIRST_PET
  );
}
