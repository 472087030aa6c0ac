import type { CountEvent } from '../../../../inventory/count/counting.ts';
import { type CountShow, type CountSum, countPrompt, eventLines, sumText } from '../../../../output/count-text.ts';
import { bell, drawsLive, type Paint, wipeLine } from '../../../../output/terminal.ts';
import { singleLine } from '../../../../shared/sanitize.ts';
import type { Invocation } from '../../../invocation/invocation.ts';

export interface CountScreen {
  /** Call this before the first line is read. Absent if there is nothing to draw. */
  begin?(): Promise<void>;
  /**
   * Draws the part of the next line that has been typed so far. Absent if the terminal itself shows it.
   * @param isShownNext whether `show` is called next and draws it
   */
  typing?(rest: string, isShownNext: boolean): Promise<void>;
  show(events: readonly CountEvent[]): Promise<void>;
  /**
   * Call this when no more lines are read.
   * @param keepsSum whether the sum stays visible: after any end except the line `done`
   */
  stop?(keepsSum: boolean): Promise<void>;
}

/**
 * Creates the output of a count on a terminal. A person sees the result of each line, and below it the sum and the next
 * line. If lines can't be redrawn (as with `TERM=dumb`), the sum is a line of its own; `--quiet` hides it.
 */
export function createCountScreen(invocation: Invocation, sum: () => CountSum, show: CountShow): CountScreen {
  const { context, globals } = invocation;
  if (drawsLive(context) && globals.quiet !== true && globals.debug !== 'json')
    return promptScreen(invocation, sum, show);
  return {
    show: async (events) => {
      await showEvents(invocation, events, sum(), show);
      const isScan = ({ kind }: CountEvent) => !['sum', 'help', 'word', 'asked', 'unanswered'].includes(kind);
      if (events.some(isScan)) await invocation.messages.note(`Sum: ${sumText(sum(), show.mode)}`);
    },
  };
}

/**
 * Creates an output that draws the prompt on stderr directly, because the prompt is the only drawn line while a count
 * reads keys. Only `begin` has to clear a line that `Messages` drew.
 */
function promptScreen(invocation: Invocation, sum: () => CountSum, show: CountShow): CountScreen {
  const { messages } = invocation;
  const { stderr } = invocation.context;
  let typed = '';
  const prompt = () => {
    const width = stderr.columns ?? 80;
    const text = countPrompt(sum(), width, show.mode);
    // If a code is longer than the line, its end is shown, where the cursor is.
    const room = Math.max(1, width - text.length - 1);
    return stderr.write(text + singleLine(typed).slice(-room));
  };
  return {
    begin: async () => {
      await messages.clear();
      await prompt();
    },
    typing: async (rest, isShownNext) => {
      typed = rest;
      if (isShownNext) return;
      await stderr.write(wipeLine);
      await prompt();
    },
    show: async (events) => {
      await stderr.write(wipeLine);
      await showEvents(invocation, events, sum(), show);
      await prompt();
    },
    stop: async (keepsSum) => stderr.write(keepsSum ? '\n' : wipeLine),
  };
}

/**
 * Shows events. An unknown code, a question and a mistaken line ring the bell, and are shown even with `--quiet`, because a shelf
 * would be counted wrongly without them.
 */
async function showEvents(
  { messages, context, globals }: Invocation,
  events: readonly CountEvent[],
  sum: CountSum,
  show: CountShow,
): Promise<void> {
  const { stderr } = context;
  const isUnknown = (event: CountEvent) =>
    ['wrong', 'unanswered', 'asked'].includes(event.kind) || (event.kind === 'unknown' && event.units > 0);
  const rings = stderr.isTerminal && globals.debug !== 'json';
  if (rings && events.some(isUnknown)) await stderr.write(bell);
  for (const event of events) {
    const linesOf = (paint: Paint, width: number) => eventLines(event, { ...show, sum, paint, width });
    await messages.show(linesOf, { always: isUnknown(event) });
  }
}
