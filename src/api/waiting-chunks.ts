/** Smaller chunks, in bytes, are put together: what a chunk costs on its way would be more than what its bytes cost. */
const smallChunk = 4 * 1024;
const mergedSize = 64 * 1024;

/** The chunks of a body that have come and are not taken yet. */
export class WaitingChunks {
  /** How many bytes are waiting. */
  bytes = 0;
  #chunks: Uint8Array[] = [];
  /** The small chunks that came last are its first `#mergedLength` bytes. */
  #merged: Uint8Array | undefined;
  #mergedLength = 0;

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    // The first is kept as it is, since most answers are one chunk.
    const isFirst = this.#merged === undefined && this.#chunks.length === 0;
    if (isFirst || chunk.length >= smallChunk) {
      this.#closeMerged();
      this.#chunks.push(chunk);
      return;
    }
    if (this.#mergedLength + chunk.length > mergedSize) this.#closeMerged();
    this.#merged ??= new Uint8Array(mergedSize);
    this.#merged.set(chunk, this.#mergedLength);
    this.#mergedLength += chunk.length;
  }

  /** All of them, in their order; they are not waiting any more. */
  take(): readonly Uint8Array[] {
    this.#closeMerged();
    const taken = this.#chunks;
    this.#chunks = [];
    this.bytes = 0;
    return taken;
  }

  #closeMerged(): void {
    if (this.#merged === undefined) return;
    this.#chunks.push(this.#merged.subarray(0, this.#mergedLength));
    this.#merged = undefined;
    this.#mergedLength = 0;
  }
}
