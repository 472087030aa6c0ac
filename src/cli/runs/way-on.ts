import { InterruptedError } from '../../shared/errors.ts';

/**
 * Interrupted before anything was sent, a run says so, and which command starts it again. Once it has sent something its own
 * error says how it is resumed.
 *
 * @param command that does what this one was to do
 */
export async function withWayOn(command: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof InterruptedError) || error.hint !== undefined) throw error;
    throw error.with({ message: 'Interrupted; nothing was written', hint: command });
  }
}
