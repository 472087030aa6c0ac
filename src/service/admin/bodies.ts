import type { IncomingMessage } from 'node:http';
import { isJsonObject, type Json, type JsonObject, JsonSyntaxError, numberText, parseJson } from '../../shared/json.ts';
import type { PetChange } from '../controls.ts';
import { Refusal } from '../http/answer.ts';
import { collectBody } from '../http/exchange.ts';
import { exactInt64, readPetId } from '../routes/values.ts';
import type { PetStatus, Seed } from '../seed/stock.ts';

/** Maximum size of a body in bytes, enough for far more faults than anyone would inject. */
const MAX_BODY_BYTES = 1024 * 1024;

const STATUSES: readonly unknown[] = ['available', 'pending', 'sold'] satisfies PetStatus[];

/** The fields of the body, by name. 64-bit integers are bigints; other numbers are doubles. */
type Fields = Readonly<Record<string, unknown>>;

export function refused(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}

/**
 * Returns a reader of JSON bodies of one shape. It requires a JSON content type, because a web page can't send JSON to
 * this port without asking first (CORS). It refuses unknown fields, so that a misspelt one is not ignored. It throws
 * Refusal 400, Refusal 413 for more than 1 MiB, JsonSyntaxError, or BodyCutOff.
 * @param shape the shape for messages, with the names of all fields in quotes before a colon
 * @param read returns the content of the fields; undefined if the body does not have the shape
 */
function bodies<Result>(shape: string, read: (fields: Fields) => Result | undefined) {
  const names = [...shape.matchAll(/"(\w+)":/g)].map(([, name]) => name);
  return async (request: IncomingMessage): Promise<Result> => {
    if (request.headers['content-type']?.startsWith('application/json') !== true) {
      throw refused('The body must be application/json.');
    }
    const text = (await collectBody(request, MAX_BODY_BYTES)).toString();
    const body = parseBody(text);
    const isKnown = isJsonObject(body) && Object.keys(body).every((name) => names.includes(name));
    const result = isKnown ? read(fieldsOf(body)) : undefined;
    if (result === undefined) throw refused(`The body must have the shape ${shape}.`);
    return result;
  };
}

/** @throws JsonSyntaxError; Refusal for JSON with very many names, or nested more deeply than the stack allows */
function parseBody(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof JsonSyntaxError ? error : refused('The body has too many names or is nested too deeply.');
  }
}

function fieldsOf(body: JsonObject): Fields {
  const plain = Object.entries(body).map(([name, value]) => {
    const number = numberText(value);
    return [name, number === undefined ? value : (exactInt64(number) ?? Number(number))];
  });
  return Object.fromEntries(plain);
}

export const readFaults = bodies('{"faults":["<spec>",…]}', ({ faults }) =>
  Array.isArray(faults) && faults.every((spec): spec is string => typeof spec === 'string') ? faults : undefined,
);

export const readAdvance = bodies('{"advanceSeconds":<n>}, n from 0 to 1e10', ({ advanceSeconds }) =>
  secondsIn(advanceSeconds),
);

export const readBan = bodies('{"seconds":<n>}, n above 0 and at most 1e10', ({ seconds }) => {
  return secondsIn(seconds) || undefined;
});

/** Reads how many requests to count as used. An omitted window stays unchanged. */
export const readUsage = bodies('{"minute":<n>,"day":<n>}, integers of at least 0', ({ minute, day }) =>
  isCount(minute) && isCount(day) ? { minute, day } : undefined,
);

export const readSeed = bodies(
  '{"pets":<n>,"seed":<n>,"ids":"large"|"small"}, each optional, with at most 1000000 pets',
  ({ pets, seed, ids }): Seed | undefined => {
    const isSeed = isCount(pets) && (pets ?? 0n) <= 1_000_000n && isCount(seed);
    if (!isSeed || !(ids === undefined || ids === 'large' || ids === 'small')) return undefined;
    return { pets: numberOf(pets), seed: numberOf(seed), ids };
  },
);

export const readPet = bodies(
  '{"quantity":<n>,"status":"available"|"pending"|"sold"}, each optional for a known pet',
  ({ quantity, status }): PetChange | undefined => {
    const isQuantity = quantity === undefined || typeof quantity === 'bigint';
    return isQuantity && isStatus(status) ? { quantity, status } : undefined;
  },
);

/** @throws Refusal if the text is not a pet id */
export function petIdOf(text: string): bigint {
  const petId = readPetId(text);
  if (petId === null) throw refused('The pet id must be a 64-bit integer in decimal.');
  return petId;
}

function isStatus(value: unknown): value is PetStatus | undefined {
  return value === undefined || STATUSES.includes(value);
}

function isCount(value: unknown): value is bigint | undefined {
  return value === undefined || (typeof value === 'bigint' && value >= 0n && value <= Number.MAX_SAFE_INTEGER);
}

function numberOf(count: bigint | undefined): number | undefined {
  return count === undefined ? undefined : Number(count);
}

function secondsIn(value: unknown): number | undefined {
  const seconds = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : -1;
  return seconds >= 0 && seconds <= 1e10 ? seconds : undefined;
}
