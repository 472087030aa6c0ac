import type { InventoryItem, PetStatus, StockItem } from '../../seed/stock.ts';
import type { Connections } from './connections.ts';
import { Lane } from './lane.ts';

interface PetRow {
  readonly id: bigint;
  readonly quantity: bigint;
  readonly status: PetStatus;
  readonly record: string | null;
}

interface Update {
  readonly petId: bigint;
  readonly quantity: bigint;
}

/** Reads and writes single pets, in one round trip for all that are asked for at once. */
export class PostgresPets {
  readonly #connections: Connections;
  readonly #updates = new Lane<Update, InventoryItem | null>((asked) => this.#setAll(asked));
  readonly #finds = new Lane<bigint, StockItem | null>((asked) => this.#findAll(asked));

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async idle(): Promise<void> {
    await Promise.all([this.#updates.idle(), this.#finds.idle()]);
  }

  find(petId: bigint): Promise<StockItem | null> {
    return this.#finds.run(petId);
  }

  setQuantity(petId: bigint, quantity: bigint): Promise<InventoryItem | null> {
    return this.#updates.run({ petId, quantity });
  }

  async remove(petId: bigint): Promise<boolean> {
    const rows = await this.#connections.change('DELETE FROM petstock_service.pets WHERE id = $1 RETURNING id', [
      petId,
    ]);
    return rows.length > 0;
  }

  async orders(): Promise<readonly string[]> {
    const rows = await this.#connections.read<{ readonly body: string }>(
      'SELECT body FROM petstock_service.orders ORDER BY position',
    );
    return rows.map(({ body }) => body);
  }

  async records(): Promise<readonly string[]> {
    const rows = await this.#connections.read<{ readonly record: string }>(
      'SELECT record FROM petstock_service.pets WHERE record IS NOT NULL ORDER BY id',
    );
    return rows.map(({ record }) => record);
  }

  async #findAll(petIds: readonly bigint[]): Promise<readonly (StockItem | null)[]> {
    const rows = await this.#connections.read<PetRow>(
      'SELECT id, quantity, status, record FROM petstock_service.pets WHERE id = ANY($1::bigint[])',
      [[...new Set(petIds)]],
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    return petIds.map((petId) => {
      const row = found.get(petId);
      if (row === undefined) return null;
      return { petId, quantity: row.quantity, status: row.status, record: row.record ?? undefined };
    });
  }

  /**
   * Of several updates of one pet the last one stays, and each is answered with its own, as if they had come one after
   * another. Rows are locked in the order of ids, so that two services do not wait for each other.
   */
  async #setAll(updates: readonly Update[]): Promise<readonly (InventoryItem | null)[]> {
    const last = new Map(updates.map(({ petId, quantity }) => [petId, quantity]));
    const rows = await this.#connections.change<Pick<PetRow, 'id' | 'status'>>(
      `WITH wanted AS (SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS given (id, quantity)),
       locked AS MATERIALIZED (
         SELECT id FROM petstock_service.pets WHERE id IN (SELECT id FROM wanted) ORDER BY id FOR NO KEY UPDATE
       )
       UPDATE petstock_service.pets AS p SET quantity = w.quantity
       FROM locked AS l JOIN wanted AS w ON w.id = l.id WHERE p.id = l.id RETURNING p.id, p.status`,
      [[...last.keys()], [...last.values()]],
    );
    const statuses = new Map(rows.map(({ id, status }) => [id, status]));
    return updates.map(({ petId, quantity }) => {
      const status = statuses.get(petId);
      return status === undefined ? null : { petId, quantity, status };
    });
  }
}
