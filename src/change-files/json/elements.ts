import { broken, type FaultList } from '../fault.ts';
import { countLineEnds, longestRow } from '../lines.ts';
import type { RowReader } from '../row-reader.ts';
import { endOfValue, skipSpace } from './text.ts';

/** Called for one JSON value, as it is written, with the line on which it begins. */
export type OnElement = (text: string, line: number) => void;

/**
 * Cuts a JSON array into its elements without looking at what is in them, so that neither the array nor the text of it
 * is ever there as a whole. Where an element is broken the next one is found all the same.
 */
export class ArrayElements implements RowReader {
  #text = '';
  #at = 0;
  #line = 1;
  #state: 'before' | 'first' | 'element' | 'separator' | 'after';

  /** @param bare whether it is the elements alone, without the brackets */
  constructor(
    private readonly faults: FaultList,
    private readonly onElement: OnElement,
    private readonly bare: boolean,
  ) {
    this.#state = bare ? 'first' : 'before';
  }

  write(text: string): void {
    this.#text = this.#text.slice(this.#at) + text;
    this.#at = 0;
    while (this.#next()) {}
    if (this.#text.length - this.#at > longestRow) {
      broken(this.#line, 'what begins here is longer than a megabyte: a bracket or a quote may never be closed');
    }
  }

  end(): void {
    if (this.#text.length > this.#at) broken(this.#line, 'the file breaks off: what begins here is not closed');
    if (this.#state !== 'after' && !this.bare) broken(this.#line, 'the file breaks off: the list is not closed');
  }

  /** Takes one token. @returns false where there is no whole one */
  #next(): boolean {
    this.#advance(skipSpace(this.#text, this.#at));
    const token = this.#text[this.#at];
    if (token === undefined) return false;
    if (this.#state === 'after') broken(this.#line, 'there is something after the end of the list');
    if (this.#state === 'before') return this.#take('first');
    if (token === ']' && !this.bare) {
      if (this.#state === 'element') this.#fault('there is a comma before the end of the list, and nothing after it');
      return this.#take('after');
    }
    if (this.#state === 'separator') {
      if (token === ',') return this.#take('element');
      this.#fault('a comma is missing before this');
    } else if (token === ',') {
      this.#fault('there is a comma too many');
      return this.#take('element');
    }
    return this.#takeElement();
  }

  #takeElement(): boolean {
    this.#state = 'element';
    const end = endOfValue(this.#text, this.#at);
    if (end === undefined) return false;
    this.onElement(this.#text.slice(this.#at, end), this.#line);
    this.#advance(end);
    this.#state = 'separator';
    return true;
  }

  #take(state: 'first' | 'element' | 'after'): true {
    this.#at += 1;
    this.#state = state;
    return true;
  }

  #advance(at: number): void {
    if (at > this.#at) this.#line += countLineEnds(this.#text, this.#at, at);
    this.#at = at;
  }

  #fault(message: string): void {
    this.faults.add({ line: this.#line, message });
  }
}
