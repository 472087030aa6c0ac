import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readCodes } from '../change-files/read-codes.ts';
import { type BarCodes, barCodesText, parseBarCodes, petOfCode } from '../inventory/bar-codes.ts';
import { codeText } from '../inventory/count/scan-line.ts';
import { writeFileAtomically } from '../shared/atomic-file.ts';
import { NotFoundError, PetstockError, UsageError } from '../shared/errors.ts';
import { systemCode } from '../shared/file-error.ts';
import { makePrivateFolder } from '../shared/private-files.ts';
import type { Context } from './context.ts';
import { faultyFile, readNamedFile } from './input-file.ts';
import type { ChosenPlace } from './invocation/globals.ts';
import type { Messages } from './invocation/messages.ts';

const hint = "petstock config set codes '<file.csv>'";

/** The parts of an invocation that say which codes there are. */
interface CodesUse extends Pick<ChosenPlace, 'config'> {
  readonly context: Context;
  readonly messages: Messages;
}

/** An invocation, which reads them once. */
interface CodesKeeper {
  readonly shopCodes: () => Promise<BarCodes | undefined>;
}

/**
 * Returns the bar codes and names of the setting `codes`; undefined if it is not set, or if nothing is known of its file.
 *
 * The content of the file is kept in the state folder: it is parsed again only if it has changed, and still counts after the file has moved, with
 * a warning.
 */
export async function openShopCodes({ config, context, messages }: CodesUse): Promise<BarCodes | undefined> {
  const file = config.settings.codes;
  if (file === undefined) return undefined;
  const { state } = context.folders;
  const kept = join(state, `codes-${createHash('sha256').update(file).digest('hex').slice(0, 12)}.json`);
  const copy = readCopy(kept);
  const stats = statSync(file, { throwIfNoEntry: false });
  const version = stats && `${stats.size} ${stats.mtimeMs} ${stats.ino}`;
  if (copy !== undefined && version === copy.version) return copy.codes;
  try {
    const codes = await readCodesFile(file, context);
    await keepCopy(state, kept, version ?? '', codes);
    return codes;
  } catch (error) {
    if (!(error instanceof UsageError || systemCode(error) !== undefined)) throw error;
    const instead =
      copy === undefined ? 'there are no bar codes and names' : 'bar codes and names are those that it had before';
    const [fault] = error instanceof UsageError ? error.lines : [];
    await messages.warn(`setting codes: ${(error as Error).message}; ${instead}`, fault);
    return copy?.codes;
  }
}

/** Returns the bar codes of a file. @throws UsageError with every fault that the file has */
export async function readCodesFile(file: string, context: Context): Promise<BarCodes> {
  const read = await readCodes(readNamedFile(file, context));
  if (read.ok) return read.codes;
  throw faultyFile(file, read, {});
}

/** Returns the pet of `--code`. @throws UsageError without the setting `codes`, NotFoundError if the code stands for no pet */
export async function petIdOfBarCode(invocation: CodesKeeper, text: string): Promise<bigint> {
  const code = codeText(text);
  const codes = await requireShopCodes(invocation, '--code');
  const petId = petOfCode(codes, code);
  if (petId !== undefined) return petId;
  throw new NotFoundError(`The bar code ${JSON.stringify(code.slice(0, 40))} stands for no pet. Nothing was sent`);
}

/** Returns those of the setting `codes`. @throws UsageError if nothing is known @param option that needs them */
export async function requireShopCodes({ shopCodes }: CodesKeeper, option: string): Promise<BarCodes> {
  const codes = await shopCodes();
  if (codes !== undefined) return codes;
  throw new UsageError(
    `${option} needs the file of your bar codes, with the columns code,petId,name. Nothing was sent`,
    { hint },
  );
}

/** Returns the kept content of a file. @returns `version`: its size, time and inode */
function readCopy(path: string) {
  try {
    const { version, codes } = JSON.parse(readFileSync(path, 'utf8')) as { version: string; codes: string };
    return { version, codes: parseBarCodes(codes) };
  } catch {
    // It is missing, or was damaged: the file itself is read.
    return undefined;
  }
}

/** Best effort: without a copy the file is read each time. */
async function keepCopy(folder: string, path: string, version: string, codes: BarCodes): Promise<void> {
  try {
    makePrivateFolder(folder);
    await writeFileAtomically(path, [JSON.stringify({ version, codes: barCodesText(codes) })], { isPrivate: true });
  } catch (error) {
    if (!(error instanceof PetstockError)) throw error;
  }
}
