import type { Paint } from '../../output/terminal.ts';
import type { Output } from '../context.ts';

/** One output stream of a command. Messages have one sink, results another. */
export class Sink {
  /** @param clear removes the line drawn at the bottom of the terminal, before anything is written */
  constructor(
    private readonly output: Output,
    readonly paint: () => Promise<Paint>,
    private readonly clear: () => Promise<void>,
  ) {}

  /** The width of the terminal, or 80 if it is unknown; undefined if the stream is not a terminal. */
  get width(): number | undefined {
    const { isTerminal, columns = 80 } = this.output;
    return isTerminal ? columns : undefined;
  }

  /** Hides keys. Call this before text is truncated or wrapped, because half of a key could not be recognized. */
  redact(text: string): string {
    return this.output.redact?.(text) ?? text;
  }

  async write(chunk: string | Uint8Array): Promise<void> {
    await this.clear();
    await this.output.write(chunk);
  }
}
