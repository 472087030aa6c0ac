import type { IncomingMessage } from 'node:http';
import type { PetChange } from '../controls.ts';
import { exactInt64, readPetId } from '../routes/values.ts';
import type { PetStatus, Seed } from '../seed/stock.ts';

/** Far more faults than anybody injects. */
const MAX_BODY_BYTES = 1024 * 1024;

/** A request that is refused with this status and message. */
export class BadRequest extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/**
 * The body as JSON. A JSON content type is required: a web page cannot send one to this port without being asked first.
 * @throws BadRequest 400, or 413 for more than 1 MiB; SyntaxError
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  return JSON.parse(await readText(request));
}

/** The same as text. @throws BadRequest as `readJson` */
async function readText(request: IncomingMessage): Promise<string> {
  if (request.headers['content-type']?.startsWith('application/json') !== true) {
    throw new BadRequest('The body must be application/json.');
  }
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  return (await collect(request)).toString();
}

/** What is over the size is read and ignored, until the answer has ended the connection. */
function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) return void chunks.push(chunk);
      request.off('data', take).resume();
      reject(tooLarge());
    };
    request.on('data', take).once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => reject(new BadRequest('The body is not complete.')));
  });
}

function tooLarge(): BadRequest {
  return new BadRequest(`The body is larger than ${MAX_BODY_BYTES} bytes.`, 413);
}

const STATUSES: readonly PetStatus[] = ['available', 'pending', 'sold'];

export function specsOf(body: unknown): string[] {
  const specs = fieldOf(body, 'faults');
  if (Array.isArray(specs) && specs.every((spec) => typeof spec === 'string')) return specs;
  throw new BadRequest('The body must be {"faults":["<spec>",…]}.');
}

export function secondsOf(body: unknown): number {
  const seconds = fieldOf(body, 'advanceSeconds');
  if (typeof seconds === 'number' && seconds >= 0 && seconds <= 1e10) return seconds;
  throw new BadRequest('The body must be {"advanceSeconds":<n>}, n not negative.');
}

export function banOf(body: unknown): number {
  const seconds = fieldOf(body, 'seconds');
  if (typeof seconds === 'number' && seconds > 0 && seconds <= 1e10) return seconds;
  throw new BadRequest('The body must be {"seconds":<n>}, n above 0.');
}

/** What is to count as used; a window that is left out stays as it is. */
export function usageOf(body: unknown): { readonly minute?: bigint; readonly day?: bigint } {
  const read = (name: 'minute' | 'day') => {
    const value = fieldOf(body, name);
    if (value === undefined) return {};
    if (!isCount(value)) throw new BadRequest('The body must be {"minute":<n>,"day":<n>}, whole numbers from 0.');
    return { [name]: BigInt(value) };
  };
  return { ...read('minute'), ...read('day') };
}

export function seedOf(body: unknown): Seed {
  const [pets, seed, ids] = [fieldOf(body, 'pets'), fieldOf(body, 'seed'), fieldOf(body, 'ids')];
  const isSeed =
    (pets === undefined || (isCount(pets) && pets <= 1_000_000)) &&
    (seed === undefined || isCount(seed)) &&
    (ids === undefined || ids === 'large' || ids === 'small');
  if (typeof body !== 'object' || body === null || !isSeed) {
    throw new BadRequest('The body must be {"pets":<n>,"seed":<n>,"ids":"large"|"small"}; each may be left out.');
  }
  return {
    ...(pets === undefined ? {} : { pets: Number(pets) }),
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(ids === 'small' || ids === 'large' ? { ids } : {}),
  };
}

/** @throws BadRequest */
export function petIdOf(text: string): bigint {
  const petId = readPetId(text);
  if (petId === null) throw new BadRequest('The id of a pet is an integer of 64 bits in decimal.');
  return petId;
}

/** Digits are exact. @throws BadRequest, SyntaxError */
export async function petChangeOf(request: IncomingMessage): Promise<PetChange> {
  const { parse } = await import('lossless-json');
  const body = parse(await readText(request), null, (number) => exactInt64(number) ?? number);
  const [quantity, asked] = [fieldOf(body, 'quantity'), fieldOf(body, 'status')];
  const status = STATUSES.find((one) => one === asked);
  const isQuantity = quantity === undefined || typeof quantity === 'bigint';
  if (!isQuantity || (asked !== undefined && status === undefined)) throw notAPet();
  return { quantity, status };
}

export function notAPet(): BadRequest {
  return new BadRequest('The body must be {"quantity":<n>,"status":"available"|"pending"|"sold"}.');
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function fieldOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null
    ? Object.entries(body).find(([key]) => key === name)?.[1]
    : undefined;
}
