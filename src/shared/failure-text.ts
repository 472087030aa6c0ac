import { PetstockError } from './errors.ts';

/** In characters: what the service says stands within a sentence. */
const longestQuote = 200;

/** Returns why a request failed, as a clause: `the service answered 503 ("down for maintenance")`. */
export function failureText(error: unknown): string {
  if (!(error instanceof PetstockError)) return String((error as Error).message ?? error);
  const { status, service, message } = error;
  if (status === undefined) return message.charAt(0).toLowerCase() + message.slice(1);
  const words = service?.message ?? '';
  if (words === '') return `the service answered ${status}`;
  const quote = words.length > longestQuote ? `${words.slice(0, longestQuote)}…` : words;
  return `the service answered ${status} (${JSON.stringify(quote)})`;
}
