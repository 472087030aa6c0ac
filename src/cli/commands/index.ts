import type { Command } from 'commander';
import type { Define, Outline, VerbOutline } from './define.ts';
import type { HelpOptions } from './help.ts';

/** A heading in the help of the program. */
type Group = 'Stock' | 'Service and setup' | 'Tools';

/**
 * Returns the outline of a command.
 * @param file imports the file that exports the definition as `name`
 */
function verb<Name extends string>(
  usage: string,
  summary: string,
  file: () => Promise<Readonly<Record<Name, Define>>>,
  name: Name,
  group?: Group,
): VerbOutline {
  return { usage, summary, group, load: async () => (await file())[name] };
}

const stockList = () => import('./inventory/list.ts');
const stockGet = () => import('./inventory/get.ts');
const stockWrite = () => import('./inventory/write-pets.ts');
const apply = () => import('./inventory/apply.ts');
const stockExport = () => import('./inventory/export.ts');
const count = () => import('./inventory/count.ts');
const codes = () => import('./inventory/codes.ts');
const diff = () => import('./inventory/diff.ts');
const watch = () => import('./inventory/watch.ts');
const historyShow = () => import('./history/show-runs.ts');
const historyTotals = () => import('./history/totals.ts');
const historyExport = () => import('./history/export-rows.ts');
const discard = () => import('./history/discard.ts');
const prune = () => import('./history/prune.ts');
const undo = () => import('./undo.ts');
const limits = () => import('./limits.ts');
const status = () => import('./status.ts');
const state = () => import('./state.ts');
const configKey = () => import('./config/set-key.ts');
const configSet = () => import('./config/set.ts');
const configShow = () => import('./config/show.ts');
const payloads = () => import('./payloads.ts');
const api = () => import('./api.ts');
const serve = () => import('./sandbox/serve.ts');
const sandboxInfo = () => import('./sandbox/info.ts');
const sandboxImport = () => import('./sandbox/import.ts');
const completion = () => import('./completion.ts');

/** All commands but `help`. `petstock --help` shows those of each group in this order. */
export const commandOutlines: readonly Outline[] = [
  {
    usage: 'inventory',
    summary: 'list, get, set, adjust, apply, export, count, codes, diff, watch',
    group: 'Stock',
    description: 'Shows and changes the stock levels of the pets in the store.',
    traits: { sendsRequests: true },
    commands: [
      verb('list', 'list the stock levels of all pets', stockList, 'defineList'),
      verb('get [petId...]', 'show the stock level of one or more pets', stockGet, 'defineGet'),
      verb('set <petId> [quantity...]', 'set the stock of one pet', stockWrite, 'defineSet'),
      verb('adjust <petId> [delta...]', 'add to or subtract from the stock of one pet', stockWrite, 'defineAdjust'),
      verb('apply [file]', 'set the stock levels that are listed in a file', apply, 'defineApply'),
      verb('export [file]', 'write all stock levels to a file to edit and apply', stockExport, 'defineExport'),
      verb('count [file]', 'count the shop with a scanner, and set the stock to the result', count, 'defineCount'),
      {
        usage: 'codes',
        summary: 'show and extend the file of your bar codes',
        description: 'Shows and extends the file of the setting `codes`: the bar codes, names and levels of your pets.',
        commands: [
          verb('add <code> <petId> [name]', 'add a bar code for a pet', codes, 'defineCodesAdd'),
          verb('list', 'list all bar codes', codes, 'defineCodesList'),
        ],
      },
      verb('diff <left> <right>', 'compare the stock of two environments or files', diff, 'defineDiff'),
      verb('watch', 'show stock changes as they happen', watch, 'defineWatch'),
    ],
  },
  verb('undo [run]', 'undo a run', undo, 'defineUndo', 'Stock'),
  {
    usage: 'history',
    summary: 'list, show, add up, discard, export and prune past runs',
    group: 'Stock',
    description:
      'Shows and manages the history. Each write by `petstock inventory` or `petstock undo` is a run in the history, with all of its rows; writes by `petstock api` are not.',
    commands: [
      verb('list', 'list the runs, latest first', historyShow, 'defineHistoryList'),
      verb('show <run>', 'show the rows of a run', historyShow, 'defineHistoryShow'),
      verb('discard <run>', 'close a run that will not be resumed', discard, 'defineHistoryDiscard'),
      verb('totals', 'add up what came in and went out by pet', historyTotals, 'defineHistoryTotals'),
      verb('export [file]', 'write every row of every run as NDJSON', historyExport, 'defineHistoryExport'),
      verb('prune', 'remove old runs', prune, 'defineHistoryPrune'),
    ],
  },
  verb('limits', 'show or clear the known rate limits', limits, 'defineLimits', 'Service and setup'),
  verb('status', 'check the environment, its address and its key', status, 'defineStatus', 'Service and setup'),
  {
    usage: 'state',
    summary: 'show or check the limits, locks and history that petstock keeps',
    group: 'Service and setup',
    description:
      'The data that petstock keeps for its commands, on this machine or in a shared database: the limits of each key, the pets that commands are changing, and the history.',
    traits: { needsConfig: false },
    commands: [
      verb('info', 'show where the state is, its size, and who uses it', state, 'defineStateInfo'),
      verb('check', 'check whether the state is damaged', state, 'defineStateCheck'),
      verb('init', 'create the tables of a shared state, as their owner', state, 'defineStateInit'),
    ],
  },
  {
    usage: 'config',
    summary: 'store keys, addresses and settings',
    group: 'Service and setup',
    description:
      "Keys, URLs and settings of this machine. These commands don't contact the service, except set-key --check.",
    traits: { takesKeys: true, needsConfig: true },
    examples: [
      ['petstock config set-url https://stock.example.com/v1 --env production'],
      ['petstock config set-key --env production'],
      ['petstock config list'],
    ],
    commands: [
      verb('set-key', 'store the key of one environment', configKey, 'defineSetKey'),
      verb('unset-key', 'remove the key of one environment', configKey, 'defineUnsetKey'),
      verb('set-url <url>', 'store the base URL of one environment', configSet, 'defineSetUrl'),
      verb('set <name> [value]', 'change a setting', configSet, 'defineSet'),
      verb('get <name>', 'print one value', configShow, 'defineGet'),
      verb('unset <name>', 'remove a setting or URL', configSet, 'defineUnset'),
      verb('list', 'show all settings and their sources', configShow, 'defineList'),
      verb('path', 'print the path of the configuration file', configShow, 'definePath'),
    ],
  },
  {
    usage: 'pets',
    summary: 'show a pet record (deprecated by the service)',
    group: 'Stock',
    description: 'Shows pet records. The service has deprecated this operation.',
    traits: { sendsRequests: true },
    commands: [verb('get <petId>', 'show the record of one pet', payloads, 'definePetsGet')],
  },
  {
    usage: 'orders',
    summary: 'list store orders',
    group: 'Stock',
    description: 'Shows store orders.',
    traits: { sendsRequests: true },
    commands: [verb('list', 'list the store orders', payloads, 'defineOrdersList')],
  },
  verb('api <method> <path>', 'send any request, within the rate limit', api, 'defineApi', 'Service and setup'),
  {
    usage: 'sandbox',
    summary: 'serve and manage the built-in practice service',
    group: 'Tools',
    description: 'The sandbox: a complete service on this machine. `--env sandbox` starts it for one command.',
    traits: { needsConfig: false, hasNoAddress: true, takesKeys: true },
    commands: [
      verb('serve', 'serve the sandbox on a port, for any client', serve, 'defineServe'),
      verb('reset', 'replace the stock of the sandbox with fresh stock', sandboxInfo, 'defineReset'),
      verb('info', 'show where the sandbox is kept, its key and its plan', sandboxInfo, 'defineInfo'),
      verb('import <file>', 'replace the stock with your own', sandboxImport, 'defineImport'),
      verb('openapi', 'print the contract of the service as an OpenAPI document', sandboxInfo, 'defineOpenApi'),
    ],
  },
  verb('completion <shell>', 'print a shell completion script', completion, 'defineCompletion', 'Tools'),
];

export function helpOutline(options: HelpOptions): VerbOutline {
  const load = async () => {
    const { defineHelp } = await import('./help.ts');
    return (command: Command) => defineHelp(command, options);
  };
  return { usage: 'help [words...]', summary: 'show help for a command or a topic', load };
}
