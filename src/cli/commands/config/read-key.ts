import { UsageError } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';

/** Far more than any key, far less than a file that was piped by mistake. */
const mostBytes = 64 * 1024;

/**
 * What was typed at a hidden question where stdin and stderr are a terminal, else all of stdin.
 * @throws InterruptedError on Ctrl-C, UsageError where stdin holds more than any key could
 */
export async function readKeyText({ stdin, stderr, prompts }: Context, question: string): Promise<string> {
  if (stdin.isTerminal && stderr.isTerminal) return prompts.password(question);
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of stdin.chunks) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new UsageError('What stdin holds is too long to be a key. Nothing was stored.');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
