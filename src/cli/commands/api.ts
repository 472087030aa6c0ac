import type { Command } from 'commander';
import { UsageError } from '../../shared/errors.ts';
import { stripControlsFromBody } from '../../shared/sanitize.ts';
import type { Invocation, Run } from '../invocation/invocation.ts';
import { examples } from './command.ts';
import { readAll } from './stdin.ts';

const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

interface ApiOptions {
  readonly data?: string;
}

export function defineApi(command: Command, run: Run): void {
  command
    .argument('<method>', methods.join(', '))
    .argument('<path>', 'below the base URL, such as /inventory')
    .description(
      'Sends any request to the chosen environment, with its key, and prints the body of the answer as it came. ' +
        'Takes one request.',
    )
    .option('--data <json>', 'the body; - reads it from stdin')
    .addHelpText(
      'after',
      examples([
        ['petstock api GET /inventory'],
        [`petstock api PATCH /inventory/7 --data '{"quantity":3}'`],
        ['petstock api PATCH /inventory/7 --data - < body.json'],
      ]),
    )
    .action(
      run<ApiOptions>(async (invocation, { data }, methodText, pathText) => {
        const method = methodOf(methodText);
        const path = pathOf(pathText);
        if (data !== undefined && readingMethods.has(method)) {
          throw new UsageError(`A ${method} has no body: leave --data out`);
        }
        const body = data === '-' ? await readAll(invocation.context.stdin) : data;
        const { client } = readingMethods.has(method)
          ? await invocation.service.connect()
          : await invocation.service.beginWrite(`Send ${method} ${path}?`);
        const answer = await client.request(method, path, body);
        // With JSON stdout stays empty on an error; a person, like curl's, wants to see what came.
        if (!answer.failure || !invocation.results.wantsJson) await printBody(invocation, answer.body);
        if (answer.failure) throw answer.failure;
      }),
    );
}

function methodOf(text: string): string {
  const method = text.toUpperCase();
  if (methods.includes(method)) return method;
  throw new UsageError(`There is no method "${text}"; there are ${methods.join(', ')}`, {
    hint: 'petstock api GET /inventory',
  });
}

/** Only a path: with a whole URL the key could be sent anywhere. */
function pathOf(text: string): string {
  const path = text.startsWith('/') ? text : `/${text}`;
  const base = 'http://service.invalid/v1';
  const inBase = URL.canParse(base + path) && new URL(base + path).href.startsWith(`${base}/`);
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) || text.startsWith('//') || !inBase || /[\s#\\]/.test(text)) {
    throw new UsageError(`"${text}" is no path below the base URL; it starts with a slash, such as /inventory`, {
      hint: 'petstock api GET /inventory',
    });
  }
  return path;
}

/** Byte for byte; on a terminal without the control characters that could do harm there. */
async function printBody({ context, results }: Invocation, body: Uint8Array): Promise<void> {
  if (!context.stdout.isTerminal) return results.write(body);
  const text = stripControlsFromBody(Buffer.from(body).toString('utf8'));
  await results.write(text === '' || text.endsWith('\n') ? text : `${text}\n`);
}
