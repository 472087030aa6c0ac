import { readPetId } from '../../../change-files/cell-values.ts';
import { csvRecords } from '../../../change-files/csv-records.ts';
import { type Field, fieldOf } from '../../../change-files/field-names.ts';
import { BrokenFileError } from '../../../change-files/problems.ts';
import { readText } from '../../../change-files/text.ts';
import { exactJson } from '../../../output/exact-json.ts';
import type { PetStatus, SeedStock, StockItem } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  JsonSyntaxError,
  numberText,
  parseJson,
} from '../../../shared/json.ts';
import type { Context } from '../../context.ts';
import { readNamedFile } from '../../input-file.ts';

const statuses: readonly PetStatus[] = ['available', 'pending', 'sold'];
const maxFaults = 20;
const quantityLimit = 2n ** 63n;
/** The limits of the JSON parser: none, because a user's own file may have a million pets. */
const unbounded = { values: Number.POSITIVE_INFINITY, names: Number.POSITIVE_INFINITY };

const noStock = 'this is not a stock file: the first line must name the columns, such as petId,quantity,status';
const noStockJson =
  'this is not a stock file: a JSON object must have an "inventory", such as {"inventory":[{"petId":7,"quantity":3}]}';

/**
 * Reads a stock: CSV with petId, quantity and status, as written by `inventory list -o csv` and `inventory export`, or
 * JSON: an array of items, or `{"inventory":[…],"pets":[…],"orders":[…]}`, whose pets and orders are served unchanged.
 * An object without an inventory is an error, because an import would remove the whole stock.
 * @param file `-` for stdin
 * @throws UsageError with the errors in the file
 */
export async function readStockFile(file: string, context: Context): Promise<SeedStock> {
  const collector = new StockCollector();
  let orders: SeedStock['orders'] = [];
  try {
    const { text, fault } = await readText(readNamedFile(file, context, 'nothing was imported'));
    if (fault !== undefined) throw new BrokenFileError(fault);
    if (/^\s*[[{]/.test(text)) orders = readJson(file, text, collector);
    else readDelimited(text, collector);
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    collector.problem(`line ${error.fault.line}`, error.fault.message);
  }
  collector.requireFaultless(file);
  return { items: collector.items, orders };
}

class StockCollector {
  readonly #items = new Map<bigint, StockItem>();
  readonly #faults: string[] = [];
  #count = 0;

  get items(): readonly StockItem[] {
    return [...this.#items.values()];
  }

  problem(where: string, message: string): void {
    this.#count++;
    if (this.#faults.length < maxFaults) this.#faults.push(`${where}: ${message}`);
  }

  add(where: string, id: string, quantity: string, status: string): void {
    const petId = readPetId(id);
    const known = statuses.find((one) => one === (status === '' ? 'available' : status));
    const count = /^-?\d{1,19}$/.test(quantity.trim()) ? BigInt(quantity.trim()) : undefined;
    if (!petId.ok) this.problem(where, petId.problem);
    else if (this.#items.has(petId.value)) this.problem(where, `pet ${petId.value} appears twice`);
    else if (count === undefined || count >= quantityLimit || count < -quantityLimit) {
      this.problem(where, `the quantity must be a 64-bit integer, not "${quantity.slice(0, 40)}"`);
    } else if (known === undefined) {
      this.problem(where, `the status must be ${statuses.join(', ')}, not "${status.slice(0, 40)}"`);
    } else this.#items.set(petId.value, { petId: petId.value, quantity: count, status: known });
  }

  addRecord(where: string, id: string, record: string): void {
    const petId = readPetId(id);
    const item = petId.ok ? this.#items.get(petId.value) : undefined;
    if (!petId.ok) this.problem(where, petId.problem);
    else if (item === undefined) this.problem(where, `pet ${petId.value} is not in the inventory`);
    else this.#items.set(petId.value, { ...item, record });
  }

  requireFaultless(file: string): void {
    if (this.#count === 0) return;
    const more = this.#count > maxFaults ? [`and ${this.#count - maxFaults} more`] : [];
    const errors = this.#count === 1 ? 'an error' : `${this.#count} errors`;
    throw new UsageError(`${nameOf(file)} has ${errors}. Nothing was imported`, { lines: [...this.#faults, ...more] });
  }
}

function readDelimited(text: string, collector: StockCollector): void {
  let header: readonly (Field | undefined)[] | undefined;
  for (const { line, cells } of csvRecords(text, { knows: (name) => fieldOf(name) !== undefined })) {
    const where = `line ${line}`;
    if (cells.every((cell) => cell.trim() === '')) continue;
    if (header === undefined) {
      header = readHeader(where, cells, collector);
      continue;
    }
    if (header.length === 0) continue;
    const cell = (field: Field) => cells[header?.indexOf(field) ?? -1]?.trim() ?? '';
    collector.add(where, cell('petId'), cell('quantity') || cell('expected'), cell('status').toLowerCase());
  }
  if (header === undefined) collector.problem('line 1', 'the file is empty');
}

/** Returns the fields of the columns. If a required column is missing, adds a problem and returns no fields. */
function readHeader(where: string, cells: readonly string[], collector: StockCollector) {
  const header = cells.map((cell) => fieldOf(cell));
  const hasId = header.includes('petId');
  const hasQuantity = header.includes('quantity') || header.includes('expected');
  if (!(hasId && hasQuantity)) {
    // The file may be anything, such as a file of keys, so the message does not repeat its text.
    collector.problem(where, hasId || hasQuantity ? `the column ${hasId ? 'quantity' : 'petId'} is missing` : noStock);
    return [];
  }
  for (const [at, field] of header.entries()) {
    if (field !== undefined && field !== 'delta') continue;
    collector.problem(where, `the column "${cells[at]}" is not known. The columns are petId, quantity, status`);
  }
  return header;
}

function readJson(file: string, text: string, collector: StockCollector): SeedStock['orders'] {
  const textOf = (value: Json | undefined): string =>
    typeof value === 'string' ? value : (numberText(value) ?? (value === undefined ? '' : '?'));
  const listOf = (content: JsonObject, name: string): readonly Json[] => {
    if (!Object.hasOwn(content, name)) return [];
    const list = content[name];
    if (Array.isArray(list)) return list;
    collector.problem(name, 'must be an array');
    return [];
  };
  const content = parsed(file, text);
  if (!Object.hasOwn(content, 'inventory')) {
    // The file may be anything, so the message does not repeat its text.
    collector.problem('line 1', noStockJson);
    return [];
  }
  for (const [at, item] of listOf(content, 'inventory').entries()) {
    const { petId, quantity, status } = objectOf(item);
    collector.add(`inventory[${at}]`, textOf(petId), textOf(quantity), textOf(status));
  }
  for (const [at, pet] of listOf(content, 'pets').entries()) {
    const { petId, id } = objectOf(pet);
    collector.addRecord(`pets[${at}]`, textOf(petId ?? id), exactJson(pet));
  }
  return listOf(content, 'orders').map((order) => exactJson(order));
}

/**
 * Parses JSON into an object. The items of an array become its `inventory`.
 * @throws UsageError without the parser's message, which may contain a secret from the file: `Duplicate key 'psk_…'`
 */
function parsed(file: string, text: string): JsonObject {
  try {
    const content = parseJson(text, unbounded);
    return Array.isArray(content) ? { inventory: content } : objectOf(content);
  } catch (cause) {
    const isPlaced = cause instanceof JsonSyntaxError;
    const where = isPlaced ? `: line ${text.slice(0, cause.at).split('\n').length} is wrong` : '';
    throw new UsageError(`${nameOf(file)} is not JSON${where}. Nothing was imported`);
  }
}

const nameOf = (file: string): string => (file === '-' ? 'stdin' : file);

function objectOf(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}
