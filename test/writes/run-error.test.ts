import { expect, test } from 'vitest';
import { type BulkRow, unclear } from '../../src/inventory/change.ts';
import {
  ConflictError,
  FailureError,
  InterruptedError,
  RateLimitedError,
  statusSentence,
  UnavailableError,
} from '../../src/shared/errors.ts';
import type { Row } from '../../src/state/open-run.ts';
import { type RunErrorContext, runErrorOf } from '../../src/writes/run-error.ts';
import type { Execution } from '../../src/writes/write-context.ts';

const run = '20260115T120020Z-k3x9';
const row = (result: BulkRow['result'], more: Partial<BulkRow> = {}): BulkRow =>
  ({ line: 1, petId: 4n, before: 5, after: 7, result, ...more }) as BulkRow;
const failure = (message: string, more: object = {}) => ({ error: { code: 'c', status: undefined, message, ...more } });
const execution = (more: Partial<Execution> = {}): Execution => ({
  ...{
    stoppedBy: undefined,
    rejection: undefined,
    hasUnanswered: false,
    unwritten: new Set<Row>(),
    quantities: undefined,
  },
  ...more,
});
const unanswered = { execution: execution({ hasUnanswered: true }) };

const [resume, show, list] = [
  `petstock inventory apply --resume ${run} --env staging`,
  `petstock history show ${run}`,
  'petstock inventory list --env staging',
];

type Facts = Partial<RunErrorContext> & { readonly run?: null; readonly lines?: readonly string[] };

test.each<[string, string | undefined, BulkRow[], Facts]>([
  ['no error', undefined, [row('applied'), row('unchanged')], {}],
  [
    'failure: All changes were written, but then an error occurred: disk full',
    undefined,
    [row('applied')],
    { cause: new FailureError('disk full') },
  ],
  [
    'partial: All changes were written, but the history may be incomplete: no state',
    resume,
    [row('applied')],
    { cause: new UnavailableError('no state') },
  ],
  [
    'failure: No change was necessary, but then an error occurred: disk full',
    undefined,
    [row('unchanged')],
    { cause: new FailureError('disk full') },
  ],
  [
    'failure: All changes were written, but then an error occurred: no state',
    undefined,
    [row('applied')],
    { cause: new UnavailableError('no state'), run: null },
  ],
  ['conflict: Nothing was written: 2 rows are conflicts', show, [row('conflict'), row('conflict')], {}],
  ['conflict: Nothing was written: pet 4: moved', show, [row('conflict', failure('moved'))], {}],
  [
    'conflict: Nothing was written: 2 rows are conflicts',
    show,
    [row('conflict', failure('moved')), row('conflict', failure('gone'))],
    {},
  ],
  [
    'conflict: Nothing was written: pet 4: moved',
    list,
    [row('conflict', { ...failure('moved'), before: undefined })],
    {},
  ],
  [
    'conflict: Nothing was written: pet 4: moved',
    show,
    [row('conflict', { ...failure('moved'), before: undefined })],
    { execution: execution() },
  ],
  ['conflict: Nothing more was written: 1 row is a conflict', list, [row('conflict')], { isResumed: true, run: null }],
  [
    'not-found: Nothing was written: no pet',
    resume,
    [row('failed', failure('no pet', { code: 'pet_not_found' })), row('notAttempted')],
    {},
  ],
  [
    'partial: 1 of 4 changes was written; 1 failed, 1 is a conflict, 1 was not attempted',
    resume,
    [row('applied'), row('failed'), row('conflict'), row('notAttempted')],
    {},
  ],
  [
    'partial: 1 of 3 changes was written; 2 failed',
    show,
    [row('applied'), row('failed'), row('failed'), row('unchanged')],
    { execution: execution() },
  ],
  ['partial: it is not known whether 2 changes were written', resume, [row('unknown'), row('unknown')], {}],
  [
    'partial: 1 of 2 changes was written; it is not known whether 1 was written',
    resume,
    [row('unknown'), row('applied'), row('unchanged'), row('skipped'), row('notEdited')],
    {},
  ],
  [
    'partial: 1 of 2 changes was written; 1 was written with another quantity',
    show,
    [row('differs', { quantity: 8 }), row('applied')],
    {},
  ],
  [
    'partial: The service set the stock of pet 4 to 8, not to 7',
    show,
    [row('differs', { quantity: 8 }), row('unchanged')],
    {},
  ],
  [
    'partial: it is not known whether 1 change was written; 1 failed, 1 is a conflict',
    show,
    [row('conflict', failure('moved', { code: unclear })), row('failed')],
    {},
  ],
  [
    'partial: It is not known whether the stock of pet 4 was set to 7: reset',
    resume,
    [row('unknown', failure('reset')), row('unchanged')],
    {},
  ],
  ['partial: It is not known whether the stock of pet 4 was set to 7', resume, [row('unknown')], {}],
  [
    'partial: It is not known whether the stock of pet 4 was set to 7: reset. The stock could not be read back',
    resume,
    [row('unknown', failure('reset'))],
    { cause: new UnavailableError('reset') },
  ],
  [
    'partial: It is not known whether the stock of pet 4 was set to 7: reset. The stock could not be read back: down',
    resume,
    [row('unknown', failure('reset'))],
    { cause: new UnavailableError('down') },
  ],
  [
    'partial: It is not known whether the stock of pet 4 was set to 7',
    resume,
    [row('unknown', failure('broken at 7', { status: 500 }))],
    { lines: ['broken at 7'] },
  ],
  [
    'partial: 1 of 2 changes was written; it is not known whether 1 was written',
    resume,
    [row('unknown', failure('broken at 7', { status: 500 })), row('applied')],
    {},
  ],
  [
    'interrupted: Interrupted. 1 of 2 changes was written',
    resume,
    [row('applied'), row('notAttempted')],
    { cause: new InterruptedError('Ctrl-C') },
  ],
  [
    'interrupted: Interrupted. No change has reached the stock so far',
    resume,
    [row('notAttempted'), row('notAttempted')],
    { cause: new InterruptedError('Ctrl-C'), ...unanswered },
  ],
  [
    'interrupted: Interrupted. The stock of pet 4 was set to 7',
    undefined,
    [row('applied')],
    { cause: new InterruptedError('Ctrl-C'), isSingle: true },
  ],
  [
    'interrupted: Interrupted. It is not known whether the stock of pet 4 was set to 7',
    resume,
    [row('unknown')],
    { cause: new InterruptedError('Ctrl-C'), isSingle: true },
  ],
  [
    'interrupted: Interrupted. Nothing was written',
    undefined,
    [row('failed')],
    { cause: new InterruptedError('Ctrl-C'), isSingle: true, execution: execution() },
  ],
  [
    'interrupted: Interrupted. No change has reached the stock so far',
    'petstock inventory get 4 --env staging',
    [row('failed')],
    { cause: new InterruptedError('Ctrl-C'), isSingle: true, ...unanswered },
  ],
  [
    'unavailable: down. Nothing was written',
    undefined,
    [row('failed')],
    { cause: new UnavailableError('down'), isSingle: true, execution: execution() },
  ],
  [
    'unavailable: down. No change has reached the stock so far',
    undefined,
    [row('failed')],
    { cause: new UnavailableError('down'), isSingle: true, ...unanswered },
  ],
  [
    'conflict: held. Nothing was written',
    undefined,
    [row('failed')],
    { cause: new ConflictError('held'), isSingle: true, execution: execution() },
  ],
  [
    'unavailable: Nothing was written: down',
    resume,
    [row('notAttempted'), row('notAttempted')],
    { cause: new UnavailableError('down'), execution: execution() },
  ],
  [
    'unavailable: No change has reached the stock so far: down',
    resume,
    [row('notAttempted'), row('notAttempted')],
    { cause: new UnavailableError('down'), ...unanswered },
  ],
  ['rate-limited: Wait. Nothing was written', resume, [row('notAttempted')], { cause: new RateLimitedError('Wait') }],
  [
    'failure: Nothing was written: bug',
    show,
    [row('failed'), row('failed')],
    { cause: new Error('bug'), execution: execution() },
  ],
  [
    'partial: 0 of 2 changes were written; 1 was written with another quantity; 1 failed',
    show,
    [row('failed'), row('differs', { quantity: 8 })],
    {},
  ],
  ['partial: it is not known whether 1 change was written; 1 failed', resume, [row('failed'), row('unknown')], {}],
  [
    'partial: 1 of 2 changes was written; 1 failed: down',
    show,
    [row('applied'), row('failed')],
    { cause: new UnavailableError('down', { retryAfterSeconds: 7 }), ...unanswered },
  ],
  [
    'partial: 0 of 2 changes were written; 2 were written with another quantity',
    show,
    [row('differs', { quantity: 8 }), row('differs', { quantity: 8 })],
    unanswered,
  ],
  [
    'partial: it is not known whether 2 changes were written; 2 are conflicts',
    show,
    [row('conflict', failure('moved', { code: unclear })), row('conflict', failure('moved', { code: unclear }))],
    unanswered,
  ],
  [
    'rejected: Nothing was written: no',
    show,
    [row('failed', failure('no', { status: 422 })), row('conflict', failure('moved'))],
    {},
  ],
  [
    'failure: Nothing was written: no',
    resume,
    [row('failed'), row('failed')],
    { cause: new FailureError('no'), execution: execution({ unwritten: new Set([{} as Row]) }) },
  ],
  [
    'failure: no. Nothing was written',
    undefined,
    [row('failed')],
    {
      cause: new FailureError('no'),
      isSingle: true,
      execution: execution({ unwritten: new Set([{} as Row]) }),
    },
  ],
  [
    'conflict: moved',
    undefined,
    [row('conflict')],
    { cause: new ConflictError('moved', { status: 409 }), isSingle: true, execution: execution() },
  ],
  [
    'failure: no. No change has reached the stock so far',
    undefined,
    [row('failed')],
    { cause: new FailureError('no', { status: 418 }), isSingle: true, ...unanswered },
  ],
  [
    'conflict: Nothing was written: 2 rows are conflicts',
    show,
    [row('conflict', { before: undefined }), row('conflict')],
    {},
  ],
  [
    'partial: It is not known whether the stock of pet 4 was set to 7: The service returned 500',
    resume,
    [row('unknown', failure(statusSentence(500), { status: 500 }))],
    {},
  ],
  [
    'partial: It is not known whether the stock of pet 4 was set to 7: broken at 7. The stock could not be read back',
    resume,
    [row('unknown', failure('broken at 7', { status: 500 }))],
    { cause: new UnavailableError('broken at 7') },
  ],
  [
    'partial: The stock of pet 4 was set to 7, but the history may be incomplete: no state',
    resume,
    [row('applied'), row('unchanged')],
    { cause: new UnavailableError('no state'), isSingle: true },
  ],
])('ends a run with %s', (text, hint, rows, { run: given = run, lines = [], ...facts }) => {
  const report = { run: given, env: 'staging', dryRun: false, rows } as const;
  const error = runErrorOf({ report, execution: undefined, cause: undefined, target: { env: 'staging' }, ...facts });
  expect(error === undefined ? 'no error' : `${error.kind}: ${error.message}`).toBe(text);
  expect([error?.hint, error?.lines ?? []]).toEqual([hint, lines]);
});
