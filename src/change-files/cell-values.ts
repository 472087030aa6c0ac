import { fifteenDigitsThenZeros, parsePetId } from '../inventory/items.ts';
import { type Parsed, problem, quoted } from '../shared/parsed.ts';

const exponent = /^[+-]?\d+(?:[.,]\d+)?[eE]\+?\d+$/;

/**
 * Returns a number without what spreadsheets add to keep its digits: `="123"`, `'123`, white space. Empty for a blank
 * cell.
 */
export function bareNumber(text: string): string {
  const trimmed = text.trim();
  if (trimmed.startsWith("'")) return trimmed.slice(1).trim();
  if (trimmed.startsWith('="') && trimmed.endsWith('"') && trimmed.length > 2) return trimmed.slice(2, -1).trim();
  return trimmed;
}

/**
 * Parses a pet id as returned by `bareNumber`. An int64 that ends in zeros is accepted: it may be valid. If it was
 * rounded, there is most likely no such pet, and that is reported later.
 */
export function readPetId(text: string): Parsed<bigint> {
  const id = parsePetId(text);
  if (id.ok) return id;
  if (exponent.test(text) || fifteenDigitsThenZeros.test(text)) {
    const shown = text.length > 40 ? quoted(text) : text;
    return problem(`${shown} looks like an id that a spreadsheet rounded: format the column as text and export again`);
  }
  return id;
}
