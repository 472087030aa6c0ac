import { Sessions } from '../../../../counts/sessions.ts';
import type { Invocation } from '../../../invocation/invocation.ts';

/** The sessions of this machine. */
export function openSessions({ context }: Invocation): Sessions {
  const { clock, processes, random, folders } = context;
  return new Sessions({ folder: folders.state, clock, processes, random });
}
