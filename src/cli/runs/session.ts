import type { RunSite } from '../../runs/site.ts';
import { userOf } from '../../shared/account.ts';
import { InterruptedError } from '../../shared/errors.ts';
import type { Connection, ConnectionUse } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';

/** A connection for one run, and where that writes. */
export interface Session {
  readonly invocation: Invocation;
  readonly connection: Connection;
  readonly site: RunSite;
}

export async function openSession(
  invocation: Invocation,
  use: ConnectionUse = { bulk: true, writes: true },
): Promise<Session> {
  const connection = await invocation.service.connect(use);
  const { context, where, messages } = invocation;
  const { clock, interrupted } = context;
  const { client, governor, state, baseUrl, service, scope, timeout, retries } = connection;
  const site: RunSite = {
    ...{ client, governor, state, baseUrl, service, scope, timeout, retries, clock, interrupted },
    where: { env: where.env, store: connection.store },
    user: userOf(context.env),
    random: () => context.random(),
    onDelay: (sentence, attempt) => messages.delayed(sentence, attempt),
  };
  return { invocation, connection, site };
}

/**
 * Interrupted before anything was sent, a run says so, and which command starts it again. Once it has sent something its own
 * error says how it is resumed.
 *
 * @param command that does what this one was to do
 * @param nothing what is certain then
 */
export async function withWayOn<T>(
  command: string,
  run: () => Promise<T>,
  nothing = 'nothing was written',
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof InterruptedError) || error.hint !== undefined) throw error;
    throw error.with({ message: `Interrupted; ${nothing}`, hint: command });
  }
}
