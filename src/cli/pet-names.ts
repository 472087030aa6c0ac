import type { PetNames } from '../inventory/bar-codes.ts';
import type { Invocation } from './invocation/invocation.ts';

/** Returns the shop's names of pets; undefined if the setting `codes` is not set. */
export async function petNamesOf(
  invocation: Pick<Invocation, 'config' | 'context' | 'messages'>,
): Promise<PetNames | undefined> {
  if (invocation.config.settings.codes === undefined) return undefined;
  // Late: few shops have names.
  const { openShopCodes } = await import('./shop-codes.ts');
  return (await openShopCodes(invocation))?.names;
}
