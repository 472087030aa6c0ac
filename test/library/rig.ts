import { onTestFinished } from 'vitest';
import type { ClientDependencies } from '../../src/library/client-options.ts';
import type { PetstoreClientOptions } from '../../src/library/index.ts';
import { openPetstoreClient } from '../../src/library/petstore-client.ts';
import { openShop, type Shop, type ShopOptions } from '../support/shop.ts';

export type OwnOptions = Partial<PetstoreClientOptions & ClientDependencies>;

/** A client of a shop, without a state unless one is given. It is closed when the test is finished. */
export function clientOf({ service, clock }: Shop, own: OwnOptions = {}) {
  const client = openPetstoreClient({ baseUrl: service.url, key: service.key, clock, ...own });
  onTestFinished(() => client.close());
  return client;
}

/** A shop, and a client whose state is that of the shop's commands. */
export async function open(own: OwnOptions = {}, options: ShopOptions = {}) {
  const shop = await openShop(options);
  return { shop, client: clientOf(shop, { stateFolder: shop.folders.state, name: 'staging', ...own }) };
}
