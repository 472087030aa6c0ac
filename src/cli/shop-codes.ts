import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeLines, type NewCode, readCodes } from '../change-files/read-codes.ts';
import { type BarCodes, barCodesText, parseBarCodes, petOfCode } from '../inventory/bar-codes.ts';
import { codeText } from '../inventory/count/scan-line.ts';
import { grouped } from '../inventory/items.ts';
import { createFileAtomically, requireFolderOf, writeFileAtomically } from '../shared/atomic-file.ts';
import { FailureError, NotFoundError, PetstockError, UsageError } from '../shared/errors.ts';
import { systemCode } from '../shared/file-error.ts';
import { petstock } from '../shared/hint.ts';
import { quoted, sentence } from '../shared/parsed.ts';
import { makePrivateFolder } from '../shared/private-files.ts';
import type { Context } from './context.ts';
import { faultyFile, readNamedFile } from './input-file.ts';
import type { ResolvedTarget } from './invocation/globals.ts';
import type { Messages } from './invocation/messages.ts';

const hint = "petstock config set codes '<file.csv>'";

interface CodesUse extends Pick<ResolvedTarget, 'config' | 'environment'> {
  readonly context: Context;
  readonly messages: Messages;
}

interface CodesKeeper extends CodesUse {
  readonly shopCodes: () => Promise<BarCodes | undefined>;
}

/** Maximum number of errors in the file that are listed below a warning. */
const maxNamed = 20;

const practiceFile = (folder: string): string => join(folder, 'sandbox-codes.csv');

/**
 * Returns the path of the codes file: that of the setting `codes`, or else the sandbox's own, which may not exist.
 * Undefined without that setting for any other environment.
 */
function codesFile({ config, context, environment }: Omit<CodesUse, 'messages'>): string | undefined {
  const own = environment.value === 'sandbox' ? practiceFile(context.folders.state) : undefined;
  return config.settings.codes ?? own;
}

/**
 * Returns the path of the codes file; undefined if none is set. Creates the sandbox's own file if it is missing.
 */
export async function writableCodesFile(invocation: Omit<CodesUse, 'messages'>): Promise<string | undefined> {
  const file = codesFile(invocation);
  if (file === undefined || invocation.config.settings.codes !== undefined || existsSync(file)) return file;
  makePrivateFolder(invocation.context.folders.state);
  await createFileAtomically(file, (await import('./practice-codes.ts')).practiceCodesFile());
  return file;
}

/**
 * Resets the codes of the sandbox: to the built-in ones (`as it opens`) if its stock is fresh again, or to no codes
 * (`none`) if it has other pets.
 */
export async function resetPracticeCodes({ folders }: Context, codes: 'as it opens' | 'none'): Promise<void> {
  const file = practiceFile(folders.state);
  rmSync(file, { force: true });
  if (codes === 'none') await createFileAtomically(file, 'code,petId,name,low\n');
}

/**
 * Returns the bar codes, names and levels of the shop; undefined if none are set, or if the file can't be read or has
 * errors and was never read before.
 */
export async function openShopCodes(use: CodesUse): Promise<BarCodes | undefined> {
  const file = codesFile(use);
  if (file === undefined) return undefined;
  if (use.config.settings.codes !== undefined || existsSync(file)) return openCodesFile(file, use);
  return (await import('./practice-codes.ts')).practiceCodes();
}

/**
 * Returns the codes of a file. They are cached in the state folder: the file is parsed again only if it has changed. If
 * it can't be read or has errors, returns the cached codes, if there are any, and prints a warning.
 */
async function openCodesFile(file: string, { context, messages }: CodesUse): Promise<BarCodes | undefined> {
  const { state } = context.folders;
  const kept = join(state, `codes-${createHash('sha256').update(file).digest('hex').slice(0, 12)}.json`);
  const copy = readCopy(kept);
  const stats = statSync(file, { throwIfNoEntry: false });
  // The 3 marks a cache with the units of cases, which older versions did not have.
  const version = stats && `3 ${stats.size} ${stats.mtimeMs} ${stats.ino}`;
  if (copy !== undefined && version === copy.version) return copy.codes;
  try {
    const codes = await readCodesFile(file, { context, messages });
    await keepCopy(state, kept, version ?? '', codes);
    return codes;
  } catch (error) {
    if (!(error instanceof UsageError || systemCode(error) !== undefined)) throw error;
    const instead =
      copy === undefined ? 'uses no bar codes or names' : 'uses the bar codes and names that it read before';
    const why = sentence((error as Error).message);
    await messages.warn(`The codes file can't be used. ${why} petstock ${instead}`);
    const lines = error instanceof UsageError ? error.lines : [];
    for (const line of lines.slice(0, maxNamed)) await messages.quote(line, { always: true });
    if (lines.length > maxNamed) await messages.note(`… and ${grouped(lines.length - maxNamed)} more`);
    return copy?.codes;
  }
}

/**
 * Returns the bar codes, names and levels of a file. Warns of columns that are not used.
 * @param nothing the clause to append to a message, such as `nothing was sent`
 * @throws UsageError with every error in the file, or if it can't be read
 */
export async function readCodesFile(
  file: string,
  { context, messages }: Pick<CodesUse, 'context' | 'messages'>,
  nothing?: string,
): Promise<BarCodes> {
  const { codes, ignored } = await readWhole(file, context, nothing);
  if (ignored.length > 0) {
    const columns = ignored.map((name) => quoted(name)).join(', ');
    const [are, they] = ignored.length === 1 ? ['column', 'it is'] : ['columns', 'they are'];
    await messages.warn(
      `${file} has the ${are} ${columns}, and ${they} not used. Known columns are code, petId, name, low and units (of a case)`,
    );
  }
  return codes;
}

async function readWhole(file: string, context: Context, nothing?: string) {
  const read = await readCodes(readNamedFile(file, context, nothing));
  if (read.ok) return read;
  throw faultyFile(file, read, nothing);
}

/**
 * Appends codes and names to a file, in the columns of the file.
 * @returns the new lines; a line has no code if only the name is new
 * @throws UsageError if the file has an error, another pet for a code, another name for a pet, or no column for a name;
 * FailureError if it can't be written
 */
export async function addCodes(file: string, added: readonly NewCode[], context: Context): Promise<readonly NewCode[]> {
  const { codes, layout } = await readWhole(file, context, 'nothing was added');
  const missing = added.flatMap(({ code, petId, name = '' }): readonly NewCode[] => {
    const [other, named] = [codes.pets.get(code), codes.names.get(petId)];
    if (other !== undefined && other !== petId) {
      throw new UsageError(`${quoted(code)} is the code of pet ${other} in ${file}. Nothing was added`);
    }
    if (name !== '' && named !== undefined && named !== name) {
      const known = `Pet ${petId} has the name ${quoted(named)} in ${file}`;
      throw new UsageError(`${known}. Nothing was added. Leave out the name, or change it there`);
    }
    if (name !== '' && layout.columns.name < 0) {
      throw new UsageError(
        `${file} has no column named name. Nothing was added. Add the column, or leave out the name`,
        { hint: petstock`inventory codes add ${code} ${petId}` },
      );
    }
    if (other === undefined) return [{ code, petId, name }];
    return name === '' || named !== undefined ? [] : [{ code: '', petId, name }];
  });
  if (missing.length > 0) requireFolderOf(file);
  try {
    // Appended to the end of the file, so that no code is lost if two processes add some at the same time.
    if (missing.length > 0) appendFileSync(file, codeLines(layout, missing));
  } catch (cause) {
    throw new FailureError(`${file} can't be written: ${(cause as Error).message}`, { cause });
  }
  return missing;
}

/**
 * Returns the pet of `--code`.
 * @throws UsageError if the shop has no codes, NotFoundError if the code is unknown
 */
export async function petIdOfBarCode(invocation: CodesKeeper, text: string): Promise<bigint> {
  const code = codeText(text);
  const codes = await requireShopCodes(invocation, '--code');
  const petId = petOfCode(codes, code);
  if (petId !== undefined) return petId;
  throw new NotFoundError(`No pet has the bar code ${JSON.stringify(code.slice(0, 40))}. Nothing was sent`);
}

/**
 * Returns the codes of the shop.
 * @param option the option or command that needs the codes, for the message
 * @throws UsageError if none are set, with every error in the file, or if the file can't be read
 */
export async function requireShopCodes(invocation: CodesKeeper, option: string): Promise<BarCodes> {
  const file = requireCodesFile(invocation, option);
  return (await invocation.shopCodes()) ?? readCodesFile(file, invocation, 'nothing was sent');
}

/**
 * Reads the codes from the file itself, never from the cache. Creates the sandbox's own file if it is missing.
 * @param named a file that was named in place of the shop's
 * @throws UsageError if no file is set, or with every error in the file
 */
export async function requireCodesNow(invocation: CodesKeeper, option: string, named?: string) {
  if (named === undefined) requireCodesFile(invocation, option);
  const file = named ?? (await writableCodesFile(invocation)) ?? '';
  return { file, codes: await readCodesFile(file, invocation) };
}

function requireCodesFile(invocation: CodesKeeper, option: string): string {
  const file = codesFile(invocation);
  if (file !== undefined) return file;
  throw new UsageError(`${option} needs the setting codes: a CSV with the columns code,petId,name. Nothing was sent`, {
    hint,
  });
}

/**
 * Returns the cached codes of a file and its `version` (size, time and inode) when they were read; undefined if the
 * cache is missing or damaged.
 */
function readCopy(path: string) {
  try {
    const { version, codes } = JSON.parse(readFileSync(path, 'utf8')) as { version: string; codes: string };
    return { version, codes: parseBarCodes(codes) };
  } catch {
    return undefined;
  }
}

/** Caches the codes of a file. Ignores a failure, because the file can be parsed each time instead. */
async function keepCopy(folder: string, path: string, version: string, codes: BarCodes): Promise<void> {
  try {
    makePrivateFolder(folder);
    await writeFileAtomically(path, [JSON.stringify({ version, codes: barCodesText(codes) })], { isPrivate: true });
  } catch (error) {
    if (!(error instanceof PetstockError)) throw error;
  }
}
