import { fault, type Parsed, quoted } from '../inventory/parsed.ts';
import { parseDelta, parsePetId, parseQuantity } from '../inventory/values.ts';

const exponent = /^[+-]?\d+(?:[.,]\d+)?[eE]\+?\d+$/;
/** Spreadsheets keep 15 digits and fill up with zeros. */
const fifteenDigitsThenZeros = /^-?[1-9]\d{14}0{4,}$/;
const grouped = /^[+-]?\d{1,3}(?:[.,'’ \u00a0\u2009\u202f]\d{3})+$/;
const wholeWithDecimals = /^([+-]?\d+)[.,]0+$/;

/**
 * A number as the file has it, without what spreadsheets put around one to keep its digits: `="123"`, `'123`,
 * white space. Empty for a blank one.
 */
export function bareNumber(text: string): string {
  const trimmed = text.trim();
  if (trimmed.startsWith("'")) return trimmed.slice(1).trim();
  if (trimmed.startsWith('="') && trimmed.endsWith('"') && trimmed.length > 2) return trimmed.slice(2, -1).trim();
  return trimmed;
}

/**
 * Reads a pet id that `bareNumber` has freed. An id within int64 that ends in zeros is read: it is a legal one, and
 * whether it was rounded can't be seen; a rounded one is most likely of no pet, which is found out later.
 */
export function readPetId(text: string): Parsed<bigint> {
  const id = parsePetId(text);
  if (id.ok) return id;
  if (exponent.test(text) || fifteenDigitsThenZeros.test(text)) {
    const shown = text.length > 40 ? quoted(text) : text;
    return fault(`${shown} looks like an id that a spreadsheet rounded; format the column as text and export again`);
  }
  return grouped.test(text) ? fault(withoutSeparators(text, 'a pet id')) : id;
}

/** Reads a stock, the new one or the one expected. Not for a blank text. */
export function readQuantity(text: string): Parsed<number> {
  if (/^\+\d+$/.test(text)) {
    return fault(
      `${quoted(text)} is not a quantity: a quantity is the new stock and has no plus sign; what is to be added goes into a column named delta`,
    );
  }
  const quantity = parseQuantity(text);
  return quantity.ok ? quantity : (likelyFault(text, 'a quantity') ?? quantity);
}

/** Reads a change of the stock. Not for a blank text. */
export function readDelta(text: string): Parsed<number> {
  const delta = parseDelta(text);
  return delta.ok ? delta : (likelyFault(text, 'a change') ?? delta);
}

function likelyFault(text: string, noun: string): ReturnType<typeof fault> | undefined {
  if (grouped.test(text)) return fault(withoutSeparators(text, noun));
  const [, whole] = wholeWithDecimals.exec(text) ?? [];
  if (whole === undefined || text.length > 40) return undefined;
  return fault(`${quoted(text)} is not ${noun}: write ${whole}, without decimals`);
}

function withoutSeparators(text: string, noun: string): string {
  const digits = text.replace(/[^\d+-]/g, '');
  // 1.800 is 1800 to one half of the world and 1.8 to the other.
  return `${quoted(text)} is not ${noun}: if ${digits.length > 40 ? 'that' : digits} is meant, write it without a separator`;
}
