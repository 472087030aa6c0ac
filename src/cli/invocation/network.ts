import type { TransportOptions } from '../../api/transport.ts';
import { resolveProxy } from '../../settings/proxy.ts';
import type { StoredSettings } from '../../settings/settings.ts';
import { UsageError } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import type { Messages } from './messages.ts';

export interface NetworkUse {
  readonly context: Context;
  readonly settings: StoredSettings;
  readonly messages: Messages;
  readonly writes: boolean;
}

/** The way to a service: through which proxy, and which authorities are trusted. @throws UsageError for what can't be used */
export async function networkFor(baseUrl: string, use: NetworkUse): Promise<TransportOptions> {
  await requireCertificateCheck(use);
  const { context, settings } = use;
  const caFile = settings['ca-file'];
  return {
    proxy: resolveProxy(baseUrl, context.env),
    ca: caFile === undefined || !baseUrl.startsWith('https:') ? undefined : await authorities(caFile, context.env),
  };
}

/** Late, since it brings TLS. */
async function authorities(caFile: string, env: Context['env']): Promise<readonly string[]> {
  const { authoritiesWith } = await import('../../settings/authorities.ts');
  return authoritiesWith(caFile, env);
}

/** Node's own warning is silent with NODE_NO_WARNINGS, and says nothing of what is at stake here. */
async function requireCertificateCheck({ context, messages, writes }: NetworkUse): Promise<void> {
  if (context.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  const fact = 'NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the check of certificates';
  const instead = "petstock config set ca-file '<file>'";
  if (writes) {
    throw new UsageError(`${fact}: nothing is written with it, and nothing was sent. Unset it`, { hint: instead });
  }
  await messages.alert(`${fact}: anyone in between can read the key, and can answer in place of the service`);
}
