import { drawsLive, liveWidth, wipeLine } from '../../output/terminal.ts';
import { truncate } from '../../output/text-width.ts';
import type { Context } from '../context.ts';

/** A line on the terminal that stays until something else is written. */
export interface WaitingLine {
  show(text: string): void;
  /** Takes it away. To be called before anything else is written. */
  clear(): Promise<void>;
}

/** Where nothing can be drawn it shows nothing: a line there would stay. */
export function createWaitingLine({ stderr, env }: Pick<Context, 'stderr' | 'env'>): WaitingLine {
  let visible = false;
  return {
    show: (text) => {
      if (!drawsLive({ stderr, env })) return;
      visible = true;
      void stderr.write(`${wipeLine}${truncate(text, liveWidth(stderr.columns))}`);
    },
    clear: async () => {
      if (!visible) return;
      visible = false;
      await stderr.write(wipeLine);
    },
  };
}
