import { type JsonObject, parseJson, toInteger } from '../shared/json.ts';
import { DAY_MS, windowAt } from './limits/admission.ts';
import type { InventoryItem, PetStatus, SeedStock, StockItem } from './seed/stock.ts';
import type { KeyRecord, ServiceStorage } from './storage/storage.ts';

/** A change of a pet. Omitted properties stay unchanged. */
export interface PetChange {
  readonly quantity?: bigint | undefined;
  readonly status?: PetStatus | undefined;
}

/** A stock, and the keys with their usage. */
export interface Snapshot {
  readonly stock: SeedStock;
  readonly keys: readonly KeyRecord[];
}

/**
 * Changes to a service that its API does not offer, for the administration port and for the program that started it.
 * Each method may throw StorageError.
 */
export class Controls {
  /** @param first the initial stock; a reset restores it */
  constructor(
    private readonly storage: ServiceStorage,
    private readonly first: SeedStock,
  ) {}

  /**
   * Adds or changes a pet. Omitted values stay unchanged, so a quantity that a client sets meanwhile is not
   * overwritten. A new pet is available by default.
   * @returns null for a new pet without a quantity
   */
  async setPet(
    petId: bigint,
    { quantity, status }: PetChange,
  ): Promise<{ readonly item: InventoryItem; readonly isNew: boolean } | null> {
    if (quantity === undefined) {
      const item = status === undefined ? await this.storage.find(petId) : await this.storage.setStatus(petId, status);
      return item === null ? null : { item, isNew: false };
    }
    const known =
      status === undefined ? await this.storage.setQuantity(petId, quantity) : await this.storage.find(petId);
    const item = { petId, quantity, status: status ?? known?.status ?? ('available' as const) };
    if (known === null || status !== undefined) await this.storage.put([item]);
    return { item, isNew: known === null };
  }

  removePet(petId: bigint): Promise<boolean> {
    return this.storage.remove(petId);
  }

  /** Replaces the stock, but keeps the keys and their usage. */
  importStock(stock: SeedStock): Promise<void> {
    return this.storage.replace(stock, { clearsUsage: false });
  }

  /** Restores the initial stock, or replaces it with another one, and clears the usage of the keys. */
  reset(stock = this.first): Promise<void> {
    return this.storage.replace(stock, { clearsUsage: true });
  }

  /** Sets the usage of a key. @returns null if there is no such key */
  setUsage(
    id: string,
    used: { readonly minute?: bigint | undefined; readonly day?: bigint | undefined },
    minuteMs: number,
  ): Promise<KeyRecord | null> {
    return this.storage.changeUsage(id, (usage, now) => {
      const [minute, day] = [windowAt(usage.minute, now, minuteMs), windowAt(usage.day, now, DAY_MS)];
      return {
        ...usage,
        minute: { ...minute, used: used.minute ?? minute.used },
        day: { ...day, used: used.day ?? day.used },
      };
    });
  }

  /**
   * Bans a key, or lifts its ban if `seconds` is null. Clears the strikes in both cases.
   * @returns null if there is no such key
   */
  ban(id: string, seconds: number | null): Promise<KeyRecord | null> {
    return this.storage.changeUsage(id, (usage, now) => {
      const bannedUntil = seconds === null ? null : now + Math.round(seconds * 1000);
      return { ...usage, conduct: { firstRefusalAt: null, strikes: 0, bannedUntil } };
    });
  }

  async snapshot(): Promise<Snapshot> {
    const items: StockItem[] = [];
    for await (const page of this.storage.inventory()) {
      for (const { petId } of parseJson(`[${page}]`) as readonly JsonObject[]) {
        const item = await this.storage.find(toInteger(petId) ?? 0n);
        if (item !== null) items.push(item);
      }
    }
    return { stock: { items, orders: await this.storage.orders() }, keys: await this.storage.keys() };
  }

  /** Restores the stock of a snapshot, and the usage of its keys. */
  async restore({ stock, keys }: Snapshot): Promise<void> {
    await this.storage.replace(stock, { clearsUsage: true });
    for (const { id, usage } of keys) await this.storage.changeUsage(id, () => usage);
  }
}
