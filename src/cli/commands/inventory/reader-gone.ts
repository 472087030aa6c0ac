import type { Deadline } from '../../../shared/clock.ts';
import { ClosedPipeError } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';

/** In milliseconds: how soon it is noticed. */
const every = 500;

export interface ReaderGone {
  /** Aborted with a ClosedPipeError. */
  readonly signal: AbortSignal;
  stop(): void;
}

/** Notices that the reader of stdout has gone away, for a command that may write nothing for hours. */
export function watchReader({ clock, stdout }: Context): ReaderGone {
  const controller = new AbortController();
  let deadline: Deadline | undefined;
  const wait = () => {
    deadline = clock.deadline(every, () => void look());
  };
  const look = async () => {
    deadline?.clear();
    if ((await stdout.hasReader?.()) === false) controller.abort(new ClosedPipeError('No reader'));
    else if (deadline !== undefined) wait();
  };
  if (stdout.hasReader !== undefined && !stdout.isTerminal) wait();
  return {
    signal: controller.signal,
    stop: () => {
      deadline?.clear();
      deadline = undefined;
    },
  };
}
