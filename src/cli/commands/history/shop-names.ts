import type { PetNames } from '../../../inventory/bar-codes.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/** Returns the shop's names of its pets for a table or a page; undefined if there are none. */
export async function shopNames(invocation: Invocation): Promise<PetNames | undefined> {
  const { config, results } = invocation;
  if (config.settings.codes === undefined || !['table', 'html'].includes(results.format)) return undefined;
  // Lazily: few shops have names.
  const { openShopCodes } = await import('../../shop-codes.ts');
  return (await openShopCodes(invocation))?.names;
}
