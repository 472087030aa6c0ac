import type { InventoryItem, PetStatus, StockItem } from '../../seed/stock.ts';
import { Lane } from '../lane.ts';
import { StorageError } from '../store.ts';
import type { Connections } from './connections.ts';
import { ANSWER_MS } from './session.ts';

interface PetRow {
  readonly id: bigint;
  readonly quantity: bigint;
  readonly status: PetStatus;
  readonly record: string | null;
}

/** Of an update: one row without a pet if there was none to update. */
interface UpdatedRow {
  readonly in_time: boolean;
  readonly id: bigint | null;
  readonly status: PetStatus | null;
}

interface Update {
  readonly petId: bigint;
  readonly quantity: bigint;
}

/** Reads and writes single pets, in one round trip for all that are asked for at once. */
export class PostgresPets {
  readonly #connections: Connections;
  readonly #now: () => number;
  readonly #updates = new Lane<Update, InventoryItem | null>((asked) => this.#setAll(asked));
  readonly #finds = new Lane<bigint, StockItem | null>((asked) => this.#findAll(asked));

  /** @param now the time of the database, or a little less: milliseconds since the Unix epoch */
  constructor(connections: Connections, now: () => number) {
    this.#connections = connections;
    this.#now = now;
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
   *
   * A statement can lie before a server that stands still for longer than its answer is waited for. Then its clients have been
   * answered that its outcome is unknown, and may have read back and written anew: it changes nothing any more. Once the rows
   * are locked it is in time, since whoever writes later waits for it.
   */
  async #setAll(updates: readonly Update[]): Promise<readonly (InventoryItem | null)[]> {
    const last = new Map(updates.map(({ petId, quantity }) => [petId, quantity]));
    const rows = await this.#connections.change<UpdatedRow>(
      `WITH wanted AS (SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS given (id, quantity)),
       locked AS MATERIALIZED (
         SELECT id FROM petstock_service.pets WHERE id IN (SELECT id FROM wanted) ORDER BY id FOR NO KEY UPDATE
       ),
       due AS MATERIALIZED (SELECT clock_timestamp() < to_timestamp($3::float8 / 1000) AS in_time FROM (SELECT count(*) FROM locked) AS all_locked),
       updated AS (
         UPDATE petstock_service.pets AS p SET quantity = w.quantity
         FROM due, locked AS l JOIN wanted AS w ON w.id = l.id WHERE p.id = l.id AND due.in_time RETURNING p.id, p.status
       )
       SELECT due.in_time, updated.id, updated.status FROM due LEFT JOIN updated ON true`,
      [[...last.keys()], [...last.values()], this.#now() + ANSWER_MS],
    );
    if (rows[0]?.in_time !== true) throw new StorageError('The change came to the database too late, and was not made');
    const statuses = new Map(rows.map(({ id, status }) => [id, status]));
    return updates.map(({ petId, quantity }) => {
      const status = statuses.get(petId);
      return status === undefined || status === null ? null : { petId, quantity, status };
    });
  }
}
