import { visibleWidth } from '../../output/text-width.ts';
import { withoutSecrets } from '../../settings/variables.ts';
import { ClosedPipeError } from '../../shared/errors.ts';
import type { Context, Pager, PagerCommand } from '../context.ts';
import type { Messages, Sink } from './messages.ts';

interface PagedOutput {
  readonly context: Context;
  readonly messages: Messages;
  /** Receives the text that is shown without the pager. */
  readonly sink: Sink;
  readonly pager: PagerCommand;
  /** Whether a variable sets the pager. If so, and the pager can't be run, a warning is printed. */
  readonly isChosen: boolean;
  readonly columns: number;
  readonly rows: number;
}

type Pieces = AsyncGenerator<string, void>;

/**
 * Maximum length, in characters, of the text that is kept to show it without the pager. A pager that took more
 * must have started.
 */
const maxRepeated = 1024 * 1024;

/**
 * Shows a table on a terminal. If the table does not fit on the screen, it is shown through a pager, if one can be run.
 * @param pieces the table in pieces of whole lines
 * @throws ClosedPipeError if the user quits the pager before it has the whole table; the reason of an interruption
 */
async function showPaged(pieces: Pieces, output: PagedOutput): Promise<void> {
  const { columns, rows } = output;
  let held = '';
  // The last line is left for the shell's prompt.
  let room = rows - 1;
  try {
    while (room >= 0) {
      const { done, value } = await pieces.next();
      if (done) return;
      held += value;
      room -= linesOf(value, columns, room);
    }
  } finally {
    if (room >= 0 && held !== '') await output.sink.write(held);
  }
  await page(pieces, held, output);
}

/** Shows texts through the pager until the user quits it. If it can't be run or fails, shows the texts without it. */
async function page(texts: AsyncGenerator<string, void>, held: string, output: PagedOutput): Promise<void> {
  const { context, messages, sink, pager: command, isChosen } = output;
  await messages.clear();
  const opened = context.openPager(command);
  const released = messages.holdUntil(opened.then(({ ended }) => ended));
  const pager = await opened;
  const over = overOf(pager, context.interrupted);
  over.catch(() => {});
  let [kept, sent] = [held, held.length];
  let failure: unknown;
  try {
    await Promise.race([pager.write(held), over]);
    for (;;) {
      const next = texts.next();
      // `over` may settle first. A rejection of `next` after that must not be reported as unhandled.
      next.catch(() => {});
      const { done, value } = await Promise.race([next, over]);
      if (done) break;
      sent += value.length;
      kept = sent > maxRepeated ? '' : kept + value;
      await Promise.race([pager.write(value), over]);
    }
  } catch (error) {
    failure = error;
  }
  pager.end();
  const how = await pager.ended;
  await released;
  if (how !== 'left' && !context.interrupted.aborted) {
    if (isChosen || how === 'failed') await messages.warn(pagerProblem(command.command, how));
    if (kept !== '') await sink.write(kept);
    if (failure instanceof ClosedPipeError) {
      for await (const text of texts) await sink.write(text);
      return;
    }
  }
  if (failure !== undefined) throw failure;
}

function pagerProblem(command: string, how: 'missing' | 'failed'): string {
  const problem = how === 'missing' ? "can't be run" : 'has failed';
  return `The pager ${JSON.stringify(command)} ${problem}. To use another, set PETSTOCK_PAGER`;
}

/** Returns how many lines of the terminal a text takes. Lines of text after the first `room + 1` are not counted. */
function linesOf(text: string, columns: number, room: number): number {
  const lines = text.replace(/\n$/, '').split('\n', room + 1);
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(visibleWidth(line) / columns)), 0);
}

/**
 * Returns a promise that rejects when the user has quit the pager, or on Ctrl-C, and never resolves. It stays pending
 * if the pager is missing or fails; the next write detects that.
 */
function overOf(pager: Pager, interrupted: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(interrupted.reason);
    interrupted.addEventListener('abort', stop, { once: true });
    void pager.ended.then((how) => {
      interrupted.removeEventListener('abort', stop);
      if (how === 'left') reject(new ClosedPipeError('The pager was closed'));
    });
  });
}

/**
 * Creates a function that shows a table that may be longer than the terminal; undefined if a pager is not wanted or
 * can't be used.
 */
export function pagerFor(shown: Pick<PagedOutput, 'context' | 'messages' | 'sink'>, target: string) {
  const { env, stdin, stdout } = shown.context;
  const { columns, rows } = stdout;
  const chosen = env.PETSTOCK_PAGER ?? env.PAGER;
  const command = (chosen ?? 'less').trim();
  // Without a keyboard a pager could not be quit.
  const isOff = command === '' || command === 'cat' || env.TERM === 'dumb' || !stdin.isTerminal;
  if (isOff || columns === undefined || rows === undefined) return undefined;
  // The options that git uses: less exits by itself if everything fits, keeps colours, and leaves the last rows on the
  // screen.
  const less = env.LESS ?? `FRX${lessPrompt(target)}`;
  // Keys typed ahead, such as the next command, must not save a file or start a program.
  const lessSecure = env.LESSSECURE ?? '1';
  const pager = { command, env: { ...withoutSecrets(env), LESS: less, LESSSECURE: lessSecure, LV: env.LV ?? '-c' } };
  const output = { ...shown, pager, isChosen: chosen !== undefined, columns, rows };
  return (pieces: Pieces) => showPaged(pieces, output);
}

/** Returns the option that gives less a prompt with the target and the keys to press. */
function lessPrompt(target: string): string {
  const name = target.replace(/[\\?:.%$]/g, '\\$&');
  return `Ps${name}  ?eq close:SPACE more, q close.$`;
}
