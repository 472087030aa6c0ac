/** A piece of text of at least eight bytes, which is told from other bytes four at a time. */
export class Fragment {
  readonly length: number;
  readonly #first: number;
  readonly #second: number;
  /** May begin within the second. */
  readonly #last: number;

  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    this.#first = bytes.readUInt32LE(0);
    this.#second = bytes.readUInt32LE(4);
    this.#last = bytes.readUInt32LE(bytes.length - 4);
  }

  /** Whether it stands at a place. There must be as many bytes, whatever they are. */
  isAt(view: DataView, at: number): boolean {
    return (
      view.getUint32(at, true) === this.#first &&
      view.getUint32(at + 4, true) === this.#second &&
      view.getUint32(at + this.length - 4, true) === this.#last
    );
  }
}
