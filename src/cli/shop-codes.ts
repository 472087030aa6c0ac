import { appendFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeLines, type NewCode, readCodes } from '../change-files/read-codes.ts';
import { type BarCodes, petOfCode } from '../inventory/bar-codes.ts';
import { codeText } from '../inventory/count/scan-line.ts';
import { grouped } from '../inventory/items.ts';
import { createFileAtomically, requireFolderOf } from '../shared/atomic-file.ts';
import { FailureError, NotFoundError, systemCode, UsageError } from '../shared/errors.ts';
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

/** Maximum number of errors in the file that are listed below a warning. */
const maxNamed = 20;

const practiceFile = (folder: string): string => join(folder, 'sandbox-codes.csv');

/**
 * Returns the path of the codes file: that of the setting `codes`, or else the sandbox's own, which is created if it is
 * missing. Undefined without that setting for any other environment.
 */
async function codesFile({ config, context, environment }: Omit<CodesUse, 'messages'>): Promise<string | undefined> {
  const { codes } = config.settings;
  if (codes !== undefined || environment.value !== 'sandbox') return codes;
  const file = practiceFile(context.folders.state);
  if (existsSync(file)) return file;
  makePrivateFolder(context.folders.state);
  await createFileAtomically(file, (await import('./practice-codes.ts')).practiceCodes);
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
 * Returns the bar codes, names and levels of the shop; undefined if it has no codes file, or, with a warning, if that
 * can't be read or has errors.
 */
export async function openShopCodes(use: CodesUse): Promise<BarCodes | undefined> {
  const { messages } = use;
  const file = await codesFile(use);
  if (file === undefined) return undefined;
  try {
    return await readCodesFile(file, use);
  } catch (error) {
    if (!(error instanceof UsageError || systemCode(error) !== undefined)) throw error;
    const why = sentence((error as Error).message);
    await messages.warn(`The codes file can't be used. ${why} petstock uses no bar codes or names`);
    const lines = error instanceof UsageError ? error.lines : [];
    for (const line of lines.slice(0, maxNamed)) await messages.quote(line, { always: true });
    if (lines.length > maxNamed) await messages.note(`… and ${grouped(lines.length - maxNamed)} more`);
    return undefined;
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
export async function petIdOfBarCode(invocation: CodesUse, text: string): Promise<bigint> {
  const code = codeText(text);
  const { codes } = await requireCodesFile(invocation, '--code');
  const petId = petOfCode(codes, code);
  if (petId !== undefined) return petId;
  throw new NotFoundError(`No pet has the bar code ${JSON.stringify(code.slice(0, 40))}. Nothing was sent`);
}

/**
 * Returns the path of the codes file and its content.
 * @param option the option or command that needs the codes, for the message
 * @param named a file that was named in place of the shop's
 * @throws UsageError if no file is set, with every error in the file, or if it can't be read
 */
export async function requireCodesFile(invocation: CodesUse, option: string, named?: string) {
  const file = named ?? (await codesFile(invocation));
  if (file !== undefined) return { file, codes: await readCodesFile(file, invocation, 'nothing was sent') };
  throw new UsageError(`${option} needs the setting codes: a CSV with the columns code,petId,name. Nothing was sent`, {
    hint,
  });
}
