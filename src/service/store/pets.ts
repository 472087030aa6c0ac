import { type Database, guarded, type Statement } from './database.ts';
import type { InventoryItem } from './store.ts';

/** Reads and writes single pets. */
export class Pets {
  readonly #find: Statement;
  readonly #setQuantity: Statement;

  constructor(database: Database) {
    this.#find = database.prepare('SELECT id AS petId, quantity, status FROM pets WHERE id = ?');
    this.#setQuantity = database.prepare(
      'UPDATE pets SET quantity = ? WHERE id = ? RETURNING id AS petId, quantity, status',
    );
  }

  find(petId: bigint): InventoryItem | null {
    return guarded(() => this.#find.get(petId)) ?? null;
  }

  setQuantity(petId: bigint, quantity: bigint): InventoryItem | null {
    return guarded(() => this.#setQuantity.get(quantity, petId)) ?? null;
  }
}
