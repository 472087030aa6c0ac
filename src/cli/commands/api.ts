import { STATUS_CODES } from 'node:http';
import { HeldBytes } from '../../api/body.ts';
import type { CheckedHead } from '../../api/client.ts';
import { isBelow } from '../../api/request.ts';
import { answerKindOf } from '../../rate-limit/waits.ts';
import { FailureError, InterruptedError, NotFoundError, UnavailableError, UsageError } from '../../shared/errors.ts';
import { petstock, withWords } from '../../shared/hint.ts';
import { sentence } from '../../shared/parsed.ts';
import { singleLine } from '../../shared/sanitize.ts';
import { classifyFailure } from '../../writes/classify-failure.ts';
import { readNamedFile } from '../input-file.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { anyText, define, repeated, words } from './command.ts';
import { requireFileName } from './option-values.ts';

export const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

type StatusAndHeaders = Pick<CheckedHead, 'status' | 'headers'>;

export const apiCommand = define({
  summary: 'send any request, within the rate limit',
  group: 'Service and setup',
  formats: ['json'],
  operands: {
    '<method>': [methods.join(', '), words(methods)],
    '<path>': 'the part of the URL after /v1, such as /inventory',
  },
  description:
    'Sends any request to the chosen environment, with its key, and prints the body of the response unchanged. ' +
    'Sends one request.',
  options: [
    ['--data <json>', 'the body; @file reads it from a file, - from stdin'],
    ['-H, --header <header>', "an additional header, 'name: value'; may be given several times", repeated(anyText)],
    ['-i, --include', 'show the status and headers of the response before its body'],
  ],
  examples: [
    ['petstock api GET /inventory'],
    [`petstock api PATCH /inventory/7 --data '{"quantity":3}'`],
    ['petstock api GET /inventory -i', 'with status and headers'],
    ["petstock api GET /inventory -H 'accept: text/csv'"],
  ],
  run: async (invocation, { data, include, header = [] }, methodText, pathText) => {
    const method = methodOf(methodText);
    const path = pathOf(pathText, invocation.context.argv);
    const headers = headersOf(header);
    const isRead = readingMethods.has(method);
    const { json, stringIds } = invocation.globals;
    if (json && include) throw new UsageError('The status and headers are not JSON. Leave out -i or --json');
    if (stringIds)
      throw new UsageError('A body is printed unchanged. Leave out --string-ids, or unset PETSTOCK_STRING_IDS');
    if (data !== undefined && isRead) throw new UsageError(`A ${method} request has no body. Leave out --data`);
    const body = data === undefined ? undefined : await bodyOf(invocation, data);
    const { client } = await invocation.connections.connect({ writes: !isRead });
    if (!isRead && invocation.config.settings.confirm === 'always') {
      await invocation.questions.confirm(`Send ${method} ${path}?`);
    }
    const printer = bodyPrinter(invocation);
    // With JSON, stdout stays empty on an error. Otherwise, a person wants to see the response, as with curl.
    const isShown = (status: number) => status < 300 || !invocation.results.wantsJson;
    let isHeadShown = !include;
    const showHead = async (head: StatusAndHeaders) => {
      if (!isHeadShown) await printHead(invocation, head);
      isHeadShown = true;
    };
    let status: number | undefined;
    const asUnsure = (error: unknown) => (isRead ? error : withOutcome(error, `${method} ${path}`, status));
    const answer = client.stream({ method, path, body, headers }, async (chunk, facts) => {
      status = facts.status;
      if (!isShown(facts.status)) return;
      await showHead(facts);
      await printer.print(chunk);
    });
    const head = await answer.catch((error) => {
      throw asUnsure(error);
    });
    if (isShown(head.status)) await showHead(head);
    await printer.finish();
    // Here a 404 is about the path, not about a pet.
    const { failure } = head;
    if (failure)
      throw asUnsure(failure instanceof NotFoundError ? failure.with({ hint: 'petstock api --help' }) : failure);
  },
});

/**
 * Adds to an error that the service has carried out the request, or may have done so. Returns any other error
 * unchanged.
 * @param status the status of the response, if its body has begun
 */
function withOutcome(error: unknown, request: string, status: number | undefined): unknown {
  const isDone = status !== undefined && answerKindOf(status) === 'success';
  const isFault = error instanceof UnavailableError || error instanceof InterruptedError;
  if (!isFault && !(isDone && error instanceof FailureError)) return error;
  if (classifyFailure(error).kind !== 'unknown') return error;
  const outcome = isDone ? `${request} was carried out` : `It is not known whether ${request} was carried out`;
  return error.with({ message: `${sentence(error.message)} ${outcome}` });
}

function methodOf(text: string): string {
  const method = text.toUpperCase();
  if (methods.includes(method)) return method;
  throw new UsageError(`There is no method "${text}". The methods are ${methods.join(', ')}`, {
    hint: 'petstock api GET /inventory',
  });
}

async function bodyOf({ context }: Invocation, data: string): Promise<string | Uint8Array> {
  if (data !== '-' && !data.startsWith('@')) return data;
  const file = data.replace('@', '');
  requireFileName(file, '--data @');
  const pieces: Uint8Array[] = [];
  for await (const piece of readNamedFile(file, context, 'nothing was sent')) pieces.push(piece);
  return Buffer.concat(pieces);
}

/**
 * Headers that users can't set: those with a key, because the rate limit is counted per key, and those that describe
 * the body's length or the connection.
 */
const ownHeaders =
  /^(authorization|proxy-authorization|host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive)$/;

/**
 * Returns the headers of `--header` options, with the values of a repeated header joined by commas.
 * @throws UsageError for a header that is not valid, or that petstock sets itself
 */
function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e]*)$/.exec(line) ?? [];
    const key = name.toLowerCase();
    // The typed text is not repeated: it may be a key.
    if (key === '') throw new UsageError("-H takes a header as 'name: value' in ASCII. Nothing was sent");
    if (ownHeaders.test(key)) throw new UsageError(`-H can't set the header ${key}. Nothing was sent`);
    headers[key] = key in headers ? `${headers[key]}, ${value.trim()}` : value.trim();
  }
  return headers;
}

/**
 * Returns the path of the request. A whole URL is refused, because the key could be sent anywhere.
 * @throws UsageError unless the text is a path relative to /v1, such as `/inventory`
 */
function pathOf(text: string, argv: readonly string[]): string {
  if (/^[a-z]:[\\/]/i.test(text)) throw rewritten(text, argv);
  const path = text.startsWith('/') ? text : `/${text}`;
  if (/^\/v1(\/|$)/.test(path)) {
    throw new UsageError(`The path begins after /v1, which is part of the service address. Leave it out of "${text}"`, {
      hint: petstock`api GET ${path.slice(3) || '/inventory'}`,
    });
  }
  const base = 'http://service.invalid/v1';
  const inBase = URL.canParse(base + path) && isBelow(base, new URL(base + path));
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) || text.startsWith('//') || !inBase || /[\s#\\]/.test(text)) {
    throw new UsageError(`Invalid path "${text}". A path starts with a slash and stays below /v1, such as /inventory`, {
      hint: 'petstock api GET /inventory',
    });
  }
  return path;
}

/** Returns the error for a path that Git Bash has made of `/inventory`: `C:/Program Files/Git/inventory`. */
function rewritten(text: string, argv: readonly string[]): UsageError {
  const rest = text.replaceAll('\\', '/').replace(/^.*\/(?:git|msys\d*|cygwin\d*|usr)\//i, '');
  const path = rest === text ? 'inventory' : rest;
  const line = withWords(argv, [text], [path]) ?? ['api', 'GET', path];
  return new UsageError(
    `Invalid path "${text}". The shell may have rewritten it: leave out the slash at its beginning`,
    {
      hint: petstock`${line}`,
    },
  );
}

/** Prints the status and the headers like `curl -i`, but with LF as line end. */
async function printHead({ results }: Invocation, { status, headers }: StatusAndHeaders): Promise<void> {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()];
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value ?? []].flat()) lines.push(singleLine(`${name}: ${one}`));
  }
  await results.write(`${lines.join('\n')}\n\n`);
}

/** Maximum size of a body that a terminal shows, in bytes. */
const maxShown = 16 * 1024 * 1024;

/**
 * Creates a printer of a body, which prints the bytes unchanged as they arrive. On a terminal, it prints the text as a
 * whole at the end, because a control sequence may be split between two chunks.
 */
function bodyPrinter({ context, results }: Invocation) {
  const { isTerminal } = context.stdout;
  const held = new HeldBytes();
  return {
    print: async (chunk: Uint8Array): Promise<void> => {
      if (!isTerminal) return results.write(chunk);
      if (held.length + chunk.length > maxShown) {
        throw new FailureError(
          'The response is longer than 16 MiB, which is too much for a terminal, but not for a file',
        );
      }
      held.add(chunk);
    },
    finish: async (): Promise<void> => {
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(held.bytes);
      if (text !== '') await results.write(text.endsWith('\n') ? text : `${text}\n`);
    },
  };
}
