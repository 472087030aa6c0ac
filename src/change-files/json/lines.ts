import { broken } from '../fault.ts';
import { longestRow } from '../lines.ts';
import type { RowReader } from '../row-reader.ts';
import type { OnElement } from './elements.ts';
import { skipSpace } from './text.ts';

/** Cuts NDJSON into its lines; blank ones are passed over. */
export class JsonLines implements RowReader {
  #text = '';
  #line = 1;

  constructor(private readonly onElement: OnElement) {}

  write(text: string): void {
    // JSON has no line end inside of a text, and between its parts NDJSON has none either.
    const lines = (this.#text + text).split(/\r\n?|\n/);
    this.#text = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    if (this.#text.length > longestRow) broken(this.#line, 'the line is longer than a megabyte');
  }

  end(): void {
    this.#take(this.#text);
  }

  #take(line: string): void {
    const start = skipSpace(line, 0);
    if (start < line.length) this.onElement(line.slice(start).trimEnd(), this.#line);
    this.#line += 1;
  }
}
