import { createHash, type Hash } from 'node:crypto';
import type { RowField } from '../../../change-files/fields.ts';
import {
  type ChangeFormat,
  changeFormats,
  type PlaceUnit,
  type Remedy,
  readChanges,
} from '../../../change-files/read-changes.ts';
import { ChangeColumns, type Changes } from '../../../inventory/change-columns.ts';
import { PetIdSet } from '../../../inventory/pet-id-set.ts';
import { planChanges } from '../../../inventory/plan.ts';
import { UsageError } from '../../../shared/errors.ts';
import { readInput } from '../../../shared/read-input.ts';
import { fileWord, shellWord } from '../../../shared/shell-word.ts';
import { type Where, whereName, whereOptions } from '../../../shared/where.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { type PlanJob, type PlanOptions, performPlan } from '../../runs/perform-plan.ts';
import { beginning } from '../../runs/run-log.ts';
import { openSession, type Session } from '../../runs/session.ts';
import { withWayOn } from '../../runs/way-on.ts';
import { failedRowsWriter } from './failed-out.ts';
import { faultyFile, unreadableFile } from './file-faults.ts';
import { repetitionGuard } from './repetition-guard.ts';

export interface FileOptions extends Omit<PlanOptions, 'stdinIsTaken' | 'keepFailed'> {
  readonly format: string | undefined;
  /** The names that the file has for fields. */
  readonly columns: ReadonlyMap<RowField, string>;
  /** Columns that petstock does not know are passed over. */
  readonly ignoreColumns: boolean;
  readonly skipUnknown: boolean;
  /** A file with deltas may be applied though a run of it has finished. */
  readonly again: boolean;
  readonly failedOut: string | undefined;
  /** `failedOut` may replace a file that petstock did not write. */
  readonly force: boolean;
}

/** Reads a change file, plans it, and has it written. @throws UsageError with every fault that the file has */
export async function runFile(invocation: Invocation, file: string, options: FileOptions): Promise<void> {
  const keepFailed = await failedRowsWriter(invocation, options.failedOut, { force: options.force, inputs: [file] });
  const command = commandOf(file, invocation.where, options);
  const stdinIsTaken = file === '-';
  const look = `${command} --dry-run`;
  const content = await read(invocation, file, options);
  if (!options.dryRun) invocation.questions.requireAnswer({ stdinIsTaken, look });
  await withWayOn(command, async () => {
    const session = await openSession(invocation);
    const job = await planFile(session, { file, command, look, content }, options);
    await performPlan(session, job, { ...options, keepFailed, stdinIsTaken });
  });
}

/** What a change file holds. */
interface FileContent {
  readonly contentHash: string;
  readonly unit: PlaceUnit;
  /** Taken once: a plan of many rows is not held beside the changes that it was made of. */
  takeChanges(): Changes;
}

interface AppliedFile {
  readonly file: string;
  /** The command as it was given, and one that shows the plan alone. */
  readonly command: string;
  readonly look: string;
  readonly content: FileContent;
}

/** Plans the changes of a file against the stock. */
async function planFile(
  session: Session,
  { file, command, look, content }: AppliedFile,
  options: FileOptions,
): Promise<PlanJob> {
  const { invocation } = session;
  const { contentHash, unit } = content;
  const changes = content.takeChanges();
  const petIds = new PetIdSet();
  let hasDeltas = false;
  for (const { petId, delta } of changes) {
    petIds.add(petId);
    hasDeltas ||= delta !== undefined;
  }
  const refuseRepetition = repetitionGuard(session, { file, contentHash, hasDeltas }, options);
  if (!options.dryRun) await refuseRepetition();
  await invocation.service.announce();
  const { quantities, mark, readAt } = await session.readSettledStock(petIds);
  const { skipUnknown } = options;
  const env = whereName(invocation.where);
  const { rows, faults } = planChanges(changes, quantities, { skipUnknown, env });
  if (faults.length > 0) {
    let isUnknown = false;
    for (const petId of petIds)
      isUnknown ||= !skipUnknown && !quantities.has(petId) && !quantities.unreadable?.has(petId);
    throw faultyFile(
      file,
      { faults, total: faults.length, unit },
      {
        nothing: 'nothing was written',
        hint: isUnknown ? `${command} --skip-unknown` : undefined,
      },
    );
  }
  const subject = { command: 'inventory apply', file, contentHash, hasDeltas };
  const begin = beginning(session, subject);
  return {
    ...{ rows, mark, readAt, verb: 'Write', look },
    begin: async (...planned) => {
      // Another process may have begun since, and may even have ended: the stock was read behind its writes then.
      await refuseRepetition();
      return begin(...planned);
    },
  };
}

function formatOf(text: string | undefined): ChangeFormat | undefined {
  if (text === undefined) return undefined;
  const format = changeFormats.find((known) => known === text);
  if (format !== undefined) return format;
  throw new UsageError(`--format takes ${changeFormats.join(', ')}; not "${text}"`);
}

async function read({ context, where }: Invocation, file: string, options: FileOptions): Promise<FileContent> {
  const { format, columns, ignoreColumns } = options;
  const { stdin, interrupted } = context;
  const chunks = file === '-' ? stdin.chunks : readInput(file, interrupted);
  const hash = createHash('sha256');
  const name = file === '-' ? undefined : file;
  const result = await readChanges(hashed(chunks, hash), {
    name,
    format: formatOf(format),
    columns,
    ignoreColumns,
  }).catch((error) => {
    throw unreadableFile(file, error);
  });
  if (!result.ok) {
    throw faultyFile(file, result, {
      nothing: 'nothing was sent',
      hint: remedyHint(file, where, options, result.remedy),
    });
  }
  let changes: Changes = result.changes;
  return {
    unit: result.unit,
    contentHash: hash.digest('hex'),
    takeChanges: () => {
      const taken = changes;
      changes = new ChangeColumns();
      return taken;
    },
  };
}

async function* hashed(chunks: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** The command that reads the file; undefined where it would be the same that has just failed. */
function remedyHint(file: string, where: Where, options: FileOptions, remedy: Remedy | undefined): string | undefined {
  if (remedy === undefined) return undefined;
  const advised = commandOf(file, where, understanding(options, remedy));
  return advised === commandOf(file, where, options) ? undefined : advised;
}

/** The options of a command with those by which the names of its file are understood. */
function understanding(options: FileOptions, { columns, ignoreColumns }: Remedy): FileOptions {
  return {
    ...options,
    columns: new Map([...columns, ...options.columns]),
    ignoreColumns: options.ignoreColumns || ignoreColumns,
  };
}

/** The command as it was given, as far as it says what the plan is. */
function commandOf(file: string, where: Where, { format, columns, ignoreColumns, skipUnknown }: FileOptions): string {
  const flags = [
    ...(format === undefined ? [] : [`--format ${format}`]),
    ...Array.from(columns, ([field, name]) => `--column ${shellWord(`${field}=${name}`)}`),
    ...(ignoreColumns ? ['--ignore-columns'] : []),
    ...(skipUnknown ? ['--skip-unknown'] : []),
  ];
  return ['petstock inventory apply', fileWord(file), ...flags, whereOptions(where)].join(' ');
}
