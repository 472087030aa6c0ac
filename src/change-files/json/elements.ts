import { broken, type FaultList } from '../fault.ts';
import { countLineEnds, longestRow } from '../lines.ts';
import type { RowReader } from '../row-reader.ts';
import { endOfValue, skipSpace } from './text.ts';

/** Called for one JSON value, as it is written, with its place: the line on which it begins, or its number. */
export type OnElement = (text: string, line: number) => void;

/**
 * Cuts a JSON array into its elements without looking at what is in them, so that neither the array nor the text of it
 * is ever there as a whole. Where an element is broken the next one is still found.
 *
 * Places are lines. Where the second element begins on the line of the first, the line says nothing: then places are
 * the numbers of the elements, from 1.
 */
export class ArrayElements implements RowReader {
  #text = '';
  #at = 0;
  #line = 1;
  /** Elements that have begun. */
  #count = 0;
  /** A place was reported before the first element: it was a line, and so are the others. */
  #hasPlaces = false;
  /** The first element, until it is known what places count. */
  #first: { readonly text: string; readonly line: number } | undefined;
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
      this.#broken('what begins here is longer than a megabyte: a bracket or a quote is probably not closed');
    }
  }

  end(): void {
    if (this.#text.length > this.#at) this.#broken('the file breaks off: what begins here is not closed');
    if (this.#state !== 'after' && !this.bare) this.#broken('the file breaks off: the list is not closed');
    this.#handOnFirst({ isFollowed: false });
  }

  /** Takes one token. @returns false where there is no whole one */
  #next(): boolean {
    this.#advance(skipSpace(this.#text, this.#at));
    const token = this.#text[this.#at];
    if (token === undefined) return false;
    if (this.#state === 'after') this.#broken('there is something after the end of the list');
    if (this.#state === 'before') return this.#take('first');
    if (token === ']' && !this.bare) {
      if (this.#state === 'element')
        this.#fault('there is a comma before the end of the list, and nothing after it', false);
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
    if (this.#count > 0) this.#handOnFirst({ isFollowed: true });
    const end = endOfValue(this.#text, this.#at);
    if (end === undefined) return false;
    const text = this.#text.slice(this.#at, end);
    if (this.#count === 0) this.#first = { text, line: this.#line };
    else this.onElement(text, this.#place());
    this.#count += 1;
    this.#advance(end);
    this.#state = 'separator';
    return true;
  }

  /** @param isFollowed whether what comes now is an element, or a comma in the place of one */
  #handOnFirst({ isFollowed }: { readonly isFollowed: boolean }): void {
    const first = this.#first;
    if (first === undefined) return;
    this.#first = undefined;
    if (isFollowed && this.#line === first.line && !this.#hasPlaces) this.faults.unit = 'item';
    this.onElement(first.text, this.faults.unit === 'item' ? 1 : first.line);
  }

  /** Of the element that begins here, or is missing here. */
  #place(): number {
    return this.faults.unit === 'item' ? this.#count + 1 : this.#line;
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

  #fault(message: string, isFollowed = true): void {
    this.#handOnFirst({ isFollowed });
    this.#hasPlaces = true;
    this.faults.add({ line: this.#place(), message });
  }

  #broken(message: string): never {
    this.#handOnFirst({ isFollowed: false });
    return broken(this.#place(), message);
  }
}
