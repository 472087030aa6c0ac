import { wantsColor } from '../../output/paint.ts';
import type { Context } from '../context.ts';

export interface TerminalFacts {
  /** Which of stdin, stdout and stderr are a terminal. */
  readonly streams: readonly string[];
  readonly columns: number | null;
  /** Without `--color`. */
  readonly color: boolean;
  /** `TERM` */
  readonly kind: string | null;
  /** `LC_ALL`, `LC_CTYPE` or `LANG`, the first that is set. */
  readonly locale: string | null;
}

/** What is known of the terminal. */
export function terminalFacts({ stdin, stdout, stderr, env }: Context): TerminalFacts {
  const streams = Object.entries({ stdin, stdout, stderr });
  return {
    streams: streams.flatMap(([name, { isTerminal }]) => (isTerminal ? [name] : [])),
    columns: stdout.columns ?? stderr.columns ?? null,
    color: wantsColor({ env, isTerminal: stdout.isTerminal }),
    kind: env.TERM || null,
    locale: env.LC_ALL || env.LC_CTYPE || env.LANG || null,
  };
}
