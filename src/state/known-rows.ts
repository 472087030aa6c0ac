import type { Intent, KnownRow, Outcome } from './history.ts';
import { recover } from './older-copy.ts';
import type { RunKey } from './settle-rows.ts';
import type { StateContext } from './state-context.ts';

/** What a process knows of the rows of its run. An older copy of the state may lack some of it. */
export class KnownRows {
  readonly #rows = new Map<number, KnownRow>();
  /** The stocks that deltas were added to. */
  readonly #rebased = new Map<number, Intent['rebased']>();

  granted(intents: readonly Intent[]): void {
    for (const { row, rebased } of intents) if (rebased !== undefined) this.#rebased.set(row, rebased);
  }

  settled(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) {
      this.#rows.set(outcome.row, { outcome, rebased: this.#rebased.get(outcome.row) });
    }
  }

  /**
   * Writes the outcomes into the state that is there now.
   * @param isWhole whether this process began the run
   */
  async recover(context: StateContext, run: RunKey, isWhole: boolean): Promise<void> {
    if (context.database.isInPlace) {
      await recover(context, run, this.#rows, isWhole);
      return;
    }
    const state = await context.reopen();
    await state?.history.recover(run, this.#rows, isWhole);
    await state?.close();
  }
}
