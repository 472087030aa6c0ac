/** What is neither a part of a number nor of plain text, so that readers stop there without looking for the end. */
const stop = 0;
/** Room for it, and for readers that look at several bytes at once. */
const slack = 16;

/** The bytes of a body that have come and are not read yet, in one piece. */
export class Window {
  bytes = new Uint8Array(128 * 1024);
  view = new DataView(this.bytes.buffer);
  /** Where the next byte to read is, and where the bytes end. Behind the last there is a zero byte. */
  at = 0;
  end = 0;
  /** How many bytes of the body lie before `bytes`. */
  #before = 0;

  /** Where in the body a place in `bytes` is, from 0. */
  offset(at: number): number {
    return this.#before + at;
  }

  /** How many bytes have come in all. */
  get received(): number {
    return this.#before + this.end;
  }

  /** Adds bytes behind the others. Places in `bytes` change: what was at `at` is at the beginning. */
  add(chunk: Uint8Array): void {
    const left = this.end - this.at;
    const needed = left + chunk.length + slack;
    const target = needed <= this.bytes.length ? this.bytes : new Uint8Array(Math.max(needed, 2 * this.bytes.length));
    if (target !== this.bytes) target.set(this.bytes.subarray(this.at, this.end));
    else if (this.at > 0) target.copyWithin(0, this.at, this.end);
    target.set(chunk, left);
    target[left + chunk.length] = stop;
    if (target !== this.bytes) this.view = new DataView(target.buffer);
    this.bytes = target;
    this.#before += this.at;
    this.at = 0;
    this.end = left + chunk.length;
  }
}
