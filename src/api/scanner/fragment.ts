/** A piece of text of at least four bytes, which is compared four bytes at a time. */
export class Fragment {
  readonly length: number;
  readonly #first: number;
  /** Where the middle begins: it may overlap with the others. */
  readonly #middleAt: number;
  readonly #middle: number;
  readonly #last: number;

  /** @param text of 4 to 12 bytes */
  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    this.#middleAt = Math.min(4, bytes.length - 4);
    this.#first = bytes.readUInt32LE(0);
    this.#middle = bytes.readUInt32LE(this.#middleAt);
    this.#last = bytes.readUInt32LE(bytes.length - 4);
  }

  /** Whether it stands at a place. There must be as many bytes, whatever they are. */
  isAt(view: DataView, at: number): boolean {
    return (
      view.getUint32(at, true) === this.#first &&
      view.getUint32(at + this.#middleAt, true) === this.#middle &&
      view.getUint32(at + this.length - 4, true) === this.#last
    );
  }
}
