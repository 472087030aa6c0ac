import type { CountEvent } from '../../../../inventory/count/counting.ts';
import { type CountShow, type CountSum, countPrompt, eventLines, sumText } from '../../../../output/count-text.ts';
import { bell, drawsLive, type Paint, wipeLine } from '../../../../output/terminal.ts';
import { singleLine } from '../../../../shared/sanitize.ts';
import type { Invocation } from '../../../invocation/invocation.ts';

/**
 * Creates the output of a count on a terminal. A person sees the result of each line, and below it the sum and the next
 * line. If lines can't be redrawn (as with `TERM=dumb`), the sum is a line of its own; `--quiet` hides it.
 */
export function createCountScreen(invocation: Invocation, sum: () => CountSum, show: CountShow) {
  const { context, globals, messages } = invocation;
  const { stderr } = context;
  const draws = drawsLive(context) && globals.quiet !== true && globals.debug !== 'json';
  let typed = '';
  // Written to stderr directly, because this is the only drawn line while a count reads keys.
  const draw = async (text: string) => (draws ? stderr.write(text) : undefined);
  const drawPrompt = () => {
    const width = stderr.columns ?? 80;
    const prompt = countPrompt(sum(), width, show.mode);
    // If a code is longer than the line, its end is shown, where the cursor is.
    const room = Math.max(1, width - prompt.length - 1);
    return draw(prompt + singleLine(typed).slice(-room));
  };
  const isScan = ({ kind }: CountEvent) => !['sum', 'help', 'word', 'asked', 'unanswered'].includes(kind);
  return {
    /** Call this before the first line is read. */
    async begin(): Promise<void> {
      await messages.clear();
      await drawPrompt();
    },
    /**
     * Draws the part of the next line that has been typed so far.
     * @param isShownNext whether `show` is called next and draws it
     */
    async typing(rest: string, isShownNext: boolean): Promise<void> {
      typed = rest;
      if (isShownNext) return;
      await draw(wipeLine);
      await drawPrompt();
    },
    async show(events: readonly CountEvent[]): Promise<void> {
      await draw(wipeLine);
      await showEvents(invocation, events, sum(), show);
      if (!draws && events.some(isScan)) await messages.note(`Sum: ${sumText(sum(), show.mode)}`);
      await drawPrompt();
    },
    /**
     * Call this when no more lines are read.
     * @param keepsSum whether the sum stays visible: after any end except the line `done`
     */
    async stop(keepsSum: boolean): Promise<void> {
      await draw(keepsSum ? '\n' : wipeLine);
    },
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
