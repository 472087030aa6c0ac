import type { ProcessIdentity } from '../../shared/processes.ts';
import type { Answer } from './connection.ts';

/** Another process that is in the way, in what a function of the schema returns. */
export interface Holder {
  readonly holder: string;
  readonly identity: ProcessIdentity;
}

/** @returns undefined where the answer names none */
export function holderIn(answer: Answer | undefined): Holder | undefined {
  if (answer === undefined || typeof answer.holder !== 'string' || typeof answer.identity !== 'string')
    return undefined;
  return { holder: answer.holder, identity: identityIn(answer.identity) };
}

export function identityIn(text: unknown): ProcessIdentity {
  return JSON.parse(String(text)) as ProcessIdentity;
}
