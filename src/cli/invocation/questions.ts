import { UsageError } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import type { GlobalOptions } from './globals.ts';

/** Questions before a write. `--yes` is an answer to all of them. */
export interface Questions {
  /**
   * Whether a person will be asked: there is a terminal, and no `--yes`.
   * @param stdinIsTaken stdin holds a file, so that it can't be answered there
   */
  willAsk(stdinIsTaken?: boolean): boolean;
  /**
   * A yes/no question about one write.
   * @throws UsageError if the answer is no, or if there is no terminal and `--yes` is missing
   */
  confirm(question: string): Promise<void>;
  /** The same for a bulk write; it may ask for a word to be typed. */
  confirmBulk(question: BulkQuestion): Promise<void>;
  /**
   * To be called before a bulk write sends anything.
   * @throws UsageError if a question will be needed and can't be asked
   */
  requireAnswer(question: Pick<BulkQuestion, 'stdinIsTaken' | 'look' | 'undone'>): void;
}

export interface BulkQuestion {
  /** `Write 3 changes to staging?` */
  readonly question: string;
  /** The word that has to be typed rather than a yes. */
  readonly typed?: string | undefined;
  /** stdin holds the file, so that the question can't be answered there. */
  readonly stdinIsTaken?: boolean;
  /** A command that shows what would be done, if the answer has to be given unseen. */
  readonly look?: string | undefined;
  /** The words for what was not done if the answer is no, or can't be given; default: `Nothing was sent`. */
  readonly undone?: string;
}

export function createQuestions({ stdin, stderr, prompts }: Context, { yes = false }: GlobalOptions): Questions {
  const isTerminal = () => stdin.isTerminal && stderr.isTerminal;
  const requireAnswer: Questions['requireAnswer'] = ({ stdinIsTaken = false, look, undone = 'Nothing was sent' }) => {
    if (yes || (isTerminal() && !stdinIsTaken)) return;
    const why = stdinIsTaken ? 'the file is on stdin' : 'this is not a terminal';
    throw new UsageError(`Confirmation required, but ${why}. ${undone}; pass --yes`, { hint: look });
  };
  return {
    willAsk: (stdinIsTaken = false) => !yes && isTerminal() && !stdinIsTaken,
    requireAnswer,
    confirm: async (question) => {
      requireAnswer({});
      if (!yes && !(await prompts.confirm(question))) throw refused();
    },
    confirmBulk: async ({ question, typed, stdinIsTaken = false, look, undone }) => {
      requireAnswer({ stdinIsTaken, look, ...(undone !== undefined && { undone }) });
      if (yes) return;
      const agreed = typed === undefined ? await prompts.confirm(question) : await isTyped(prompts, question, typed);
      if (!agreed) throw refused(undone);
    },
  };
}

/** Asks once more for a name that was mistyped. Nothing typed is a no. */
async function isTyped({ text }: Context['prompts'], question: string, typed: string): Promise<boolean> {
  const first = (await text(`${question} Type ${typed} to go on`)).trim();
  if (first === typed || first === '') return first === typed;
  const again = await text(`${quoted(first)} is not ${typed}. Type ${typed} to go on, or press Enter to stop`);
  return again.trim() === typed;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

function refused(undone = 'Nothing was written'): UsageError {
  return new UsageError(`Not confirmed; ${undone.charAt(0).toLowerCase()}${undone.slice(1)}`);
}
