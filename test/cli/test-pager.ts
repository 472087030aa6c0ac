import type { Pager, PagerCommand } from '../../src/cli/context.ts';
import { ClosedPipeError } from '../../src/shared/errors.ts';

export interface TestPagerOptions {
  /**
   * Set if the pager can't be run. It then accepts nothing, or, like a shell that does not find the program,
   * everything.
   */
  readonly isMissing?: 'at once' | 'in the end' | undefined;
  /** Set if the pager starts, reads everything, and ends with an error. */
  readonly fails?: boolean | undefined;
  /** Number of characters that the pager reads before it waits for `leave`. */
  readonly readsOnly?: number | undefined;
  /** Whether the pager stays after the end of its input, until `leave` is called. */
  readonly stays?: boolean | undefined;
  /** Receives the text that the pager has read so far. */
  onRead?(text: string): void;
}

/** Creates a pager that keeps the text it was given. */
export function createTestPager(options: TestPagerOptions = {}) {
  const { isMissing, fails, readsOnly = Number.POSITIVE_INFINITY, stays } = options;
  const commands: PagerCommand[] = [];
  let resolve: (how: Awaited<Pager['ended']>) => void = () => {};
  const ended = new Promise<Awaited<Pager['ended']>>((resolved) => {
    resolve = resolved;
  });
  let read = '';
  let isOver = false;
  const leave = (how: Awaited<Pager['ended']> = 'left'): void => {
    isOver = true;
    resolve(how);
  };
  const write = async (text: string): Promise<void> => {
    if (isMissing === 'at once') leave('missing');
    if (isOver) throw new ClosedPipeError('The pager takes no more');
    if (isMissing !== undefined) return;
    read += text;
    options.onRead?.(read);
    if (read.length < readsOnly) return;
    await ended;
    throw new ClosedPipeError('The pager takes no more');
  };
  return {
    commands,
    openPager: (command: PagerCommand): Pager => {
      commands.push(command);
      return {
        write,
        end: () => {
          if (isMissing !== undefined) leave('missing');
          else if (fails) leave('failed');
          else if (stays !== true) leave();
        },
        ended,
      };
    },
    text: () => read,
    /** Leaves the pager, as a person would. */
    leave: () => leave(),
  };
}
