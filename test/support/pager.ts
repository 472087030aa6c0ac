import type { Pager, PagerCommand } from '../../src/cli/context.ts';
import { ClosedPipeError } from '../../src/shared/errors.ts';

export interface TestPagerOptions {
  /** It can't be run: it takes nothing, or, as a shell's does, it takes all. */
  readonly isMissing?: 'at once' | 'in the end' | undefined;
  /** It reads no further than this, until the person leaves it. */
  readonly readsOnly?: number | undefined;
  /** It is not left when all is read, but by `leave`. */
  readonly stays?: boolean | undefined;
  /** Called with what it has read so far. */
  onRead?(text: string): void;
}

/** A pager that keeps what it was given. */
export function createTestPager(options: TestPagerOptions = {}) {
  const { isMissing, readsOnly = Number.POSITIVE_INFINITY, stays } = options;
  const commands: PagerCommand[] = [];
  let resolve: (how: 'left' | 'missing') => void = () => {};
  const ended = new Promise<'left' | 'missing'>((resolved) => {
    resolve = resolved;
  });
  let read = '';
  let isOver = false;
  const leave = (how: 'left' | 'missing' = 'left'): void => {
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
          else if (stays !== true) leave();
        },
        ended,
      };
    },
    text: () => read,
    /** The person leaves it. */
    leave: () => leave(),
  };
}
