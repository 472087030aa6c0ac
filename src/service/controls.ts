import { type JsonObject, parseJson, toInteger } from '../shared/json.ts';
import { DAY_MS, windowAt } from './limits/admission.ts';
import type { InventoryItem, PetStatus, SeedStock, StockItem } from './seed/stock.ts';
import type { KeyRecord, ServiceStorage } from './storage/storage.ts';

/** A part that is left out stays as it is. */
export interface PetChange {
  readonly quantity?: bigint | undefined;
  readonly status?: PetStatus | undefined;
}

/** A stock with what the keys had used of their limits. */
export interface Snapshot {
  readonly stock: SeedStock;
  readonly keys: readonly KeyRecord[];
}

/** Changes a service from outside its API, for its administration and for who has started it. @throws StorageError */
export class Controls {
  /** @param first what the service was started with, which a reset brings back */
  constructor(
    private readonly store: ServiceStorage,
    private readonly first: SeedStock,
  ) {}

  /**
   * Puts a pet in, or changes it. What is left out stays as it is in that moment: a quantity that a client sets meanwhile is not undone.
   * @returns null for a new pet without a quantity
   */
  async setPet(
    petId: bigint,
    { quantity, status }: PetChange,
  ): Promise<{ readonly item: InventoryItem; readonly isNew: boolean } | null> {
    if (quantity === undefined) {
      const item = status === undefined ? await this.store.find(petId) : await this.store.setStatus(petId, status);
      return item === null ? null : { item, isNew: false };
    }
    const known = status === undefined ? await this.store.setQuantity(petId, quantity) : await this.store.find(petId);
    const item = { petId, quantity, status: status ?? known?.status ?? ('available' as const) };
    if (known === null || status !== undefined) await this.store.put([item]);
    return { item, isNew: known === null };
  }

  removePet(petId: bigint): Promise<boolean> {
    return this.store.remove(petId);
  }

  /** Puts a stock in place of the one that is there. Keys and what they have used stay. */
  importStock(stock: SeedStock): Promise<void> {
    return this.store.replace(stock, { forgetsUsage: false });
  }

  /** Brings back the stock that the service was started with, or puts another one in, and forgets what keys have used. */
  reset(stock = this.first): Promise<void> {
    return this.store.replace(stock, { forgetsUsage: true });
  }

  /** Sets what is to count as used. @returns null if there is no such key */
  setUsage(
    id: string,
    used: { readonly minute?: bigint | undefined; readonly day?: bigint | undefined },
    minuteMs: number,
  ): Promise<KeyRecord | null> {
    return this.store.changeUsage(id, (usage, now) => {
      const [minute, day] = [windowAt(usage.minute, now, minuteMs), windowAt(usage.day, now, DAY_MS)];
      return {
        ...usage,
        minute: { ...minute, used: used.minute ?? minute.used },
        day: { ...day, used: used.day ?? day.used },
      };
    });
  }

  /** Bans a key. @param seconds null: ends its ban, and forgets its strikes @returns null if there is no such key */
  ban(id: string, seconds: number | null): Promise<KeyRecord | null> {
    return this.store.changeUsage(id, (usage, now) => {
      const bannedUntil = seconds === null ? null : now + Math.round(seconds * 1000);
      return { ...usage, conduct: { firstRefusalAt: null, strikes: 0, bannedUntil } };
    });
  }

  /** Returns the whole stock, with what keys have used. */
  async snapshot(): Promise<Snapshot> {
    const items: StockItem[] = [];
    for await (const page of this.store.inventory()) {
      for (const { petId } of parseJson(`[${page}]`) as readonly JsonObject[]) {
        const item = await this.store.find(toInteger(petId) ?? 0n);
        if (item !== null) items.push(item);
      }
    }
    return { stock: { items, orders: await this.store.orders() }, keys: await this.store.keys() };
  }

  /** Puts back what was there. The clock stays as it is. */
  async restore({ stock, keys }: Snapshot): Promise<void> {
    await this.store.replace(stock, { forgetsUsage: true });
    for (const { id, usage } of keys) await this.store.changeUsage(id, () => usage);
  }
}
