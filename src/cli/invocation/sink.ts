import type { Paint } from '../../output/terminal.ts';
import type { Output } from '../context.ts';

/** One output stream of a command. Messages are written through one of them, results through the other. */
export class Sink {
  /** @param clear removes the line drawn at the bottom of the terminal, before anything is written */
  constructor(
    private readonly output: Output,
    readonly paint: () => Promise<Paint>,
    private readonly clear: () => Promise<void>,
  ) {}

  /** Undefined without a terminal. A terminal of unknown width is still a terminal, so its output must be safe. */
  get width(): number | undefined {
    const { isTerminal, columns = 80 } = this.output;
    return isTerminal ? columns : undefined;
  }

  /** Removes keys before text is truncated or wrapped, because half of a key could not be recognized. */
  redact(text: string): string {
    return this.output.redact?.(text) ?? text;
  }

  async write(chunk: string | Uint8Array): Promise<void> {
    await this.clear();
    await this.output.write(chunk);
  }
}
