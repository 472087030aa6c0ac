import { onTestFinished } from 'vitest';
import type { ClientDependencies } from '../../src/library/client-options.ts';
import type { PetstoreClientOptions } from '../../src/library/index.ts';
import { openPetstoreClient } from '../../src/library/petstore-client.ts';
import { openShop, type Shop, type ShopOptions } from '../support/shop.ts';

export type OwnOptions = Partial<PetstoreClientOptions & ClientDependencies>;

/** Opens a client of a shop, by default without a state. It is closed when the test is finished. */
export function clientOf({ service, clock }: Shop, own: OwnOptions = {}) {
  const client = openPetstoreClient({ baseUrl: service.url, key: service.key, clock, ...own });
  onTestFinished(() => client.close());
  return client;
}

/** Opens a shop, and a client that uses the state of the shop's commands. */
export async function open(own: OwnOptions = {}, options: ShopOptions = {}) {
  const shop = await openShop(options);
  return { shop, client: clientOf(shop, { stateFolder: shop.folders.state, name: 'staging', ...own }) };
}
