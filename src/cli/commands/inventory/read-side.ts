import { readStockList } from '../../../change-files/read-stock-list.ts';
import { StockList } from '../../../inventory/stock-list.ts';
import { didYouMean } from '../../../shared/did-you-mean.ts';
import { FailureError, InterruptedError, UsageError } from '../../../shared/errors.ts';
import { systemCode } from '../../../shared/file-error.ts';
import { environmentNames } from '../../../shared/target.ts';
import type { Context } from '../../context.ts';
import { faultyFile, readNamedFile } from '../../input-file.ts';
import type { NamedTarget } from '../../invocation/globals.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { scanStock } from './stock.ts';

export type Side =
  | { readonly kind: 'environment'; readonly name: string; readonly target: NamedTarget }
  /** `file` is a path, or `-` for stdin. */
  | { readonly kind: 'file'; readonly name: string; readonly file: string };

/**
 * Returns the stock of one side.
 * @throws UsageError for a file that can't be read or has errors, FailureError if a service lists a pet twice
 */
export async function readSide(invocation: Invocation, side: Side): Promise<StockList> {
  if (side.kind === 'file') {
    return readFile(invocation.context, side.file).catch((error) => {
      throw unreadableSide(side.file, error);
    });
  }
  const list = await invocation.connections.at(side.target, ({ client }) =>
    StockList.gather(scanStock(invocation, client)),
  );
  const repeated = list.repeated();
  if (repeated === undefined) return list;
  throw new FailureError(`The list of ${side.name} is not valid: pet ${repeated} appears twice`);
}

async function readFile(context: Context, file: string): Promise<StockList> {
  const name = file === '-' ? undefined : file;
  const result = await readStockList(readNamedFile(file, context), { name, format: undefined });
  if (result.ok) return result.list;
  throw faultyFile(file, result, 'nothing was compared');
}

/** Returns the error about a file. If there is no such file, the name may be a mistyped environment. */
function unreadableSide(file: string, error: unknown): unknown {
  if (error instanceof InterruptedError) return error.with({ message: 'Interrupted. Nothing was sent' });
  const meant = didYouMean(file, environmentNames);
  if (!(error instanceof UsageError) || systemCode(error.cause) !== 'ENOENT' || meant === '') return error;
  return error.with({ message: `${error.message}, nor an environment of that name.${meant}` });
}
