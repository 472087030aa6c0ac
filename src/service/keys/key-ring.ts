import { type Limits, PLANS, type Plan } from '../limits/admission.ts';
import { openStore, type StoreOptions } from '../open-store.ts';
import type { Entitlement, KeyRecord, Store } from '../store/store.ts';
import { generateKey, idOfKey } from './key.ts';

/** What a key may do: a plan, or limits of its own, which make it an enterprise key. */
export type Grant = Plan | Limits;

/** Opens the keys of a store, whether it is being served or not. A new one is created and seeded. */
export async function openKeyRing(options: StoreOptions): Promise<KeyRing> {
  return new KeyRing(await openStore(options));
}

/** The keys of one store. @throws StorageError from every method, as the store does */
export class KeyRing {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Issues a key. This is the only time that it can be seen: the store keeps its digest. */
  async create(grant: Grant): Promise<{ readonly key: string; readonly record: KeyRecord }> {
    const key = generateKey();
    return { key, record: await this.adopt(key, grant, { keepsKnown: false }) };
  }

  /** Makes `key` known. @param keepsKnown a known key keeps what it was granted before */
  async adopt(key: string, grant: Grant, { keepsKnown }: { keepsKnown: boolean }): Promise<KeyRecord> {
    await this.#store.register(key, entitlementTo(grant), { keepsKnown });
    const id = idOfKey(key);
    const record = (await this.list()).find((known) => known.id === id);
    if (record === undefined) throw new Error('A key that was registered is not among the keys.');
    return record;
  }

  /** All keys, revoked ones too, oldest first. */
  list(): Promise<readonly KeyRecord[]> {
    return this.#store.keys();
  }

  /** Ends the validity of a key, for services that run too. Null: there is no key of that id. */
  revoke(id: string): Promise<KeyRecord | null> {
    return this.#store.revoke(id);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

export function entitlementTo(grant: Grant): Entitlement {
  return typeof grant === 'string' ? { plan: grant, limits: PLANS[grant] } : { plan: 'enterprise', limits: grant };
}
