import { UsageError } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import type { GlobalOptions } from './globals.ts';
import type { Messages } from './messages.ts';

export interface Question {
  /** For example, `Write 3 changes to staging?`. */
  readonly question: string;
  /** Text to quote above the question, with a bar in front of each line. */
  readonly words?: readonly string[];
  /** The word that must be typed instead of a yes. */
  readonly typed?: string | undefined;
  /** A command that previews the effect. It is the hint if petstock can't ask. */
  readonly previewCommand?: string | undefined;
  /**
   * The sentence about what was not done. Default: `Nothing was sent` if petstock can't ask, `Nothing was written` if
   * the answer is no.
   */
  readonly notDone?: string | undefined;
}

/** Asks questions on the terminal. `--yes` answers all of them but `text`. */
export class Questions {
  /** Whether the command reads its file from stdin, so that no question can be answered there. */
  stdinIsTaken = false;

  constructor(
    private readonly context: Context,
    private readonly globals: GlobalOptions,
    private readonly messages: Pick<Messages, 'clear' | 'quote'>,
  ) {}

  /** Reports whether the user will be asked: there is a terminal, stdin holds no file, and `--yes` is missing. */
  willAsk(): boolean {
    const { stdin, stderr } = this.context;
    return !this.globals.yes && stdin.isTerminal && stderr.isTerminal && !this.stdinIsTaken;
  }

  /**
   * Checks that petstock can ask for confirmation, or that `--yes` confirms. Call this before a bulk write sends
   * anything.
   * @throws UsageError if confirmation is needed and can't be asked for
   */
  requireAnswer({ previewCommand, notDone = 'Nothing was sent' }: Omit<Question, 'question'>): void {
    if (this.globals.yes || this.willAsk()) return;
    const why = this.stdinIsTaken ? 'the file is on stdin' : 'this is not a terminal';
    throw new UsageError(`This needs confirmation, but ${why}. ${notDone}. To confirm in advance, add --yes`, {
      hint: previewCommand,
    });
  }

  /** Asks for text. `--yes` does not answer this question. */
  async text(question: string): Promise<string> {
    await this.messages.clear();
    return this.context.prompts.text(question);
  }

  /**
   * Asks for confirmation before a write.
   * @throws UsageError if the answer is no, or if there is no terminal and `--yes` is missing
   */
  async confirm(asked: Question | string): Promise<void> {
    const question = typeof asked === 'string' ? { question: asked } : asked;
    this.requireAnswer(question);
    if (this.globals.yes) return;
    await this.messages.clear();
    for (const words of question.words ?? []) await this.messages.quote(words, { always: true });
    if (await this.context.prompts.confirm(question.question, question.typed)) return;
    const { notDone = 'Nothing was written' } = question;
    throw new UsageError(`Not confirmed. ${notDone}`);
  }
}
