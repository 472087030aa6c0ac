import { countLineEnds } from '../lines.ts';

/** One record of delimited text, RFC 4180. */
export interface ScannedRecord {
  readonly kind: 'record';
  readonly cells: readonly string[];
  /** After the record and its line end. */
  readonly end: number;
  /** Line ends in the record, its own included. */
  readonly lines: number;
  /** It has a line end of its own; only the last record of a file may have none. */
  readonly ended: boolean;
  /** Number of the first cell, from 1, with text after its closing quote: not RFC 4180, and no telling what is meant. */
  readonly misquoted: number | undefined;
}

/** The text ends before the quote that opens at `quote` is closed. */
export interface OpenQuote {
  readonly kind: 'open';
  readonly quote: number;
}

/**
 * Reads the record that begins at `start`. As spreadsheets do, it takes a quote inside of an unquoted cell for a
 * character like others (`5" nail`); blanks around a quoted cell are no part of it.
 */
export function scanRecord(text: string, start: number, delimiter: string): ScannedRecord | OpenQuote {
  const cells: string[] = [];
  let misquoted: number | undefined;
  let at = start;
  for (;;) {
    const quote = skipBlanks(text, at);
    if (text[quote] === '"') {
      const close = closingQuote(text, quote + 1);
      if (close === -1) return { kind: 'open', quote };
      cells.push(text.slice(quote + 1, close).replaceAll('""', '"'));
      const next = skipBlanks(text, close + 1);
      at = cellEnd(text, next, delimiter);
      if (at > next) misquoted ??= cells.length;
    } else {
      const end = cellEnd(text, at, delimiter);
      cells.push(text.slice(at, end));
      at = end;
    }
    if (text[at] !== delimiter) break;
    at += 1;
  }
  const end = at + lineEndLength(text, at);
  return { kind: 'record', cells, end, lines: countLineEnds(text, start, end), ended: end > at, misquoted };
}

/** 2 for CRLF, 1 for LF and CR, 0 at the end of the text. */
export function lineEndLength(text: string, at: number): number {
  if (text[at] === '\r') return text[at + 1] === '\n' ? 2 : 1;
  return text[at] === '\n' ? 1 : 0;
}

function cellEnd(text: string, start: number, delimiter: string): number {
  let at = start;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at += 1;
  return at;
}

function closingQuote(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ') at += 1;
  return at;
}
