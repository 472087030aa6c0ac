import type { Client } from '../../api/client.ts';
import type { BulkRow } from '../../inventory/change.ts';
import type { InventoryItem, UnreadableItem } from '../../inventory/items.ts';
import type { Permit } from '../../rate-limit/governor.ts';
import { FailureError, NotFoundError, type PetstockError } from '../../shared/errors.ts';
import { whereName, whereOptions } from '../../shared/where.ts';
import type { Mark } from '../../state/pets.ts';
import { rowErrorOf } from '../../writes/classify-failure.ts';
import type { ReadStockItem } from '../../writes/read-first.ts';
import type { Progression, ReadStock, RowWrite, WriteOptions } from '../../writes/row-write.ts';
import { runErrorOf } from '../../writes/run-error.ts';
import { writeRows } from '../../writes/write-rows.ts';
import type { Connection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { beginRun } from './run-log.ts';

/** In milliseconds. A wait between reading and writing that is longer makes the stock too old. */
const longestGap = 1000;

export interface SingleWrite {
  /** For the history: `inventory set` */
  readonly command: string;
  readonly petId: bigint;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** What became of a single write. */
export interface Written {
  /** As the service answered it, or as it was read afterwards; undefined where neither is known. */
  readonly item: InventoryItem | undefined;
  readonly before: number | undefined;
  /** The failure that the command ends with; undefined where all is as it was asked for. */
  readonly error: PetstockError | undefined;
}

/** Sets the stock of one pet, whatever it is: one request. */
export function setStock(
  invocation: Invocation,
  connection: Connection,
  write: SingleWrite,
  quantity: number,
): Promise<Written> {
  const plan = { before: undefined, after: quantity, mark: undefined, reserved: undefined };
  return new SinglePetRun(invocation, connection, write).perform(plan);
}

/**
 * Reads the stock of one pet and sets what follows from it: two requests, admitted together.
 * @param target the quantity that is wanted, given the stock; what it throws ends the command, and nothing was written
 */
export function readAndSetStock(
  invocation: Invocation,
  connection: Connection,
  write: SingleWrite,
  target: (stock: number) => number | Promise<number>,
): Promise<Written> {
  const run = new SinglePetRun(invocation, connection, write);
  return run.performReadFirst(target);
}

interface SinglePlan {
  readonly before: number | undefined;
  readonly after: number;
  readonly mark: Mark | undefined;
  readonly reserved: ReadStockItem['reserved'] | undefined;
}

/** One pet on its way through the engine. Remembers the item as it was last seen, since a command shows its status too. */
class SinglePetRun {
  readonly #invocation: Invocation;
  readonly #connection: Connection;
  readonly #write: SingleWrite;
  #seen: InventoryItem | undefined;

  constructor(invocation: Invocation, connection: Connection, write: SingleWrite) {
    this.#invocation = invocation;
    this.#connection = connection;
    this.#write = write;
  }

  async performReadFirst(target: (stock: number) => number | Promise<number>): Promise<Written> {
    const { clock, interrupted } = this.#invocation.context;
    const { governor, service, state } = this.#connection;
    const options = {
      pets: state.pets,
      governor,
      clock,
      interrupted,
      service,
      petId: this.#write.petId,
      longestGap,
      read: async (permit: Permit) => (await this.#read(permit)) ?? Promise.reject(this.#noSuchPet()),
      onDelay: this.#onDelay,
    };
    // A plain set reads nothing.
    const { readFirst } = await import('../../writes/read-first.ts');
    return readFirst(options, async ({ item, mark, reserved }) => {
      const before = item.quantity;
      let isHandedOn = false;
      try {
        const after = await target(before);
        isHandedOn = true;
        return await this.perform({ before, after, mark, reserved });
      } finally {
        if (!isHandedOn) await reserved.permit.unsent();
      }
    });
  }

  async perform({ before, after, mark, reserved }: SinglePlan): Promise<Written> {
    const { petId, command, reason, ref } = this.#write;
    const planned: BulkRow = { line: 1, petId, before, after, result: 'planned', reason, ref };
    const plan = { rows: [planned], numbers: [1] };
    const log = await beginRun(this.#invocation, this.#connection, { command }, plan).catch(async (error) => {
      await reserved?.permit.unsent();
      throw error;
    });
    const options = { ...this.#engineOptions(), log, mark, reserved };
    const progression = await this.#writeOne({ row: 1, petId, before, after }, options);
    const row = rowAfter(planned, progression);
    // A single write is not resumed: what was certainly not sent has failed.
    if (row.result === 'failed')
      await log.settle([{ row: 1, petId, result: 'failed', error: row.error }]).catch(() => {});
    const unclosed = await log.end().catch((error: unknown) => ({ error }));
    const cause = progression.stoppedBy ?? unclosed?.error;
    const { where } = this.#invocation;
    const report = { run: log.run, env: where.env, dryRun: false, rows: [row] };
    const error = runErrorOf({ report, progression, cause, where, isSingle: true });
    return { item: this.#writtenItem(progression), before, error: error && this.#worded(error) };
  }

  async #writeOne(row: RowWrite, options: WriteOptions): Promise<Progression> {
    const { context, messages } = this.#invocation;
    const onInterrupt = () => void messages.note('Stopping after the request in flight. Ctrl-C again ends at once.');
    context.interrupted.addEventListener('abort', onInterrupt, { once: true });
    try {
      return await writeRows([row], options);
    } finally {
      context.interrupted.removeEventListener('abort', onInterrupt);
    }
  }

  #engineOptions(): Omit<WriteOptions, 'log' | 'mark' | 'reserved'> {
    const { client, governor, state, timeout } = this.#connection;
    const { clock, random, interrupted } = this.#invocation.context;
    const updateInventory: Client['updateInventory'] = async (...args) => {
      const item = await client.updateInventory(...args);
      if (item.petId === this.#write.petId) this.#seen = item;
      return item;
    };
    return {
      client: { updateInventory },
      governor,
      presence: state.presence,
      readStock: this.#readStock,
      clock,
      random,
      timeout,
      staleAfter: longestGap,
      concurrency: 1,
      failFast: false,
      interrupted,
      onSettled: () => {},
      onDelay: this.#onDelay,
    };
  }

  readonly #onDelay = (sentence: string): void => void this.#invocation.messages.note(`${sentence}.`);

  readonly #readStock: ReadStock = async (_petIds, permit) => {
    const mark = await this.#connection.state.pets.mark();
    const item = await this.#read(permit);
    return { mark, quantities: new Map(item === undefined ? [] : [[item.petId, item.quantity]]) };
  };

  /** One GET. */
  async #read(permit: Permit | undefined): Promise<InventoryItem | undefined> {
    this.#seen = undefined;
    const { eachPicked } = await import('../../inventory/pick-items.ts');
    const { petId } = this.#write;
    let found: InventoryItem | undefined;
    let unreadable: UnreadableItem | undefined;
    const onUnreadable = (item: UnreadableItem) => {
      if (item.petId === petId) unreadable = item;
    };
    const batches = this.#connection.client.scanInventory({ permit, onUnreadable });
    await eachPicked(batches, new Set([petId]), (item) => {
      found = item;
    });
    if (unreadable !== undefined) throw this.#unreadable(unreadable);
    this.#seen = found;
    return found;
  }

  #unreadable({ petId, number, fault }: UnreadableItem): FailureError {
    const message = `The stock of pet ${petId} can't be relied on: "quantity" in the answer is ${number}, which is ${fault}`;
    return new FailureError(message, { hint: `petstock api GET /inventory ${whereOptions(this.#invocation.where)}` });
  }

  /** The item to show: only where it is known that it was written. */
  #writtenItem({ settled }: Progression): InventoryItem | undefined {
    const result = settled.get(1)?.result;
    return result === 'applied' || result === 'unchanged' || result === 'differs' ? this.#seen : undefined;
  }

  /** Without an Error body the address itself may be wrong, so nothing is said about the pet. */
  #worded(error: PetstockError): PetstockError {
    return error instanceof NotFoundError && error.service ? this.#noSuchPet(error) : error;
  }

  #noSuchPet(cause?: NotFoundError): NotFoundError {
    const { where } = this.#invocation;
    return new NotFoundError(`There is no pet ${this.#write.petId} in ${whereName(where)}`, {
      status: cause?.status,
      service: cause?.service,
      cause,
      hint: `petstock inventory list ${whereOptions(where)}`,
    });
  }
}

function rowAfter(row: BulkRow, { settled, unknown, stoppedBy }: Progression): BulkRow {
  const settlement = settled.get(1);
  if (settlement !== undefined) return { ...row, ...settlement };
  const open = unknown.get(1);
  if (open !== undefined) return { ...row, result: 'unknown', error: open.error };
  return { ...row, result: 'failed', error: rowErrorOf(stoppedBy) };
}
