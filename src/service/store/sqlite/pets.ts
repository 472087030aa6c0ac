import type { InventoryItem, PetStatus, StockItem } from '../../seed/stock.ts';
import { type Database, guarded, type Statement } from './database.ts';

/** Reads and writes single pets. */
export class Pets {
  readonly #find: Statement;
  readonly #setQuantity: Statement;
  readonly #setStatus: Statement;
  readonly #remove: Statement;
  readonly #orders: Statement;
  readonly #records: Statement;

  constructor(database: Database) {
    this.#find = database.prepare('SELECT id AS petId, quantity, status, record FROM pets WHERE id = ?');
    this.#setQuantity = database.prepare(
      'UPDATE pets SET quantity = ? WHERE id = ? RETURNING id AS petId, quantity, status',
    );
    this.#setStatus = database.prepare(
      'UPDATE pets SET status = ? WHERE id = ? RETURNING id AS petId, quantity, status',
    );
    this.#remove = database.prepare('DELETE FROM pets WHERE id = ?');
    this.#orders = database.prepare('SELECT body AS text FROM orders ORDER BY position');
    this.#records = database.prepare('SELECT record AS text FROM pets WHERE record IS NOT NULL ORDER BY id');
  }

  find(petId: bigint): StockItem | null {
    const row = guarded(() => this.#find.get(petId));
    return row === undefined ? null : { ...row, record: row.record ?? undefined };
  }

  /** False: no such pet. */
  remove(petId: bigint): boolean {
    return guarded(() => this.#remove.run(petId)).changes > 0;
  }

  orders(): readonly string[] {
    return textsOf(this.#orders);
  }

  records(): readonly string[] {
    return textsOf(this.#records);
  }

  setQuantity(petId: bigint, quantity: bigint): InventoryItem | null {
    return guarded(() => this.#setQuantity.get(quantity, petId)) ?? null;
  }

  setStatus(petId: bigint, status: PetStatus): InventoryItem | null {
    return guarded(() => this.#setStatus.get(status, petId)) ?? null;
  }
}

function textsOf(statement: Statement): readonly string[] {
  const rows: readonly { readonly text: string }[] = guarded(() => statement.all());
  return rows.map(({ text }) => text);
}
