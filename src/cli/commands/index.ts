import { examples, type Outline, type VerbOutline } from './command.ts';
import type { HelpOptions } from './help/help.ts';

const verb = (usage: string, summary: string, load: VerbOutline['load']): VerbOutline => ({ usage, summary, load });

/** All commands but `help`, in the order of `petstock --help`. */
export const commandOutlines: readonly Outline[] = [
  {
    usage: 'inventory',
    summary: 'look at and change stock levels',
    description: 'Looks at and changes the stock levels of the pets in the store.',
    commands: [
      verb('list', 'list the stock levels of all pets', async () => (await import('./inventory/list.ts')).defineList),
      verb(
        'get [petId...]',
        'show the stock level of one pet or several',
        async () => (await import('./inventory/get.ts')).defineGet,
      ),
      verb(
        'set <petId> [quantity...]',
        'set the stock of one pet or several',
        async () => (await import('./inventory/set.ts')).defineSet,
      ),
      verb(
        'adjust <petId> [delta...]',
        'add to the stock of one pet, or take from it',
        async () => (await import('./inventory/set.ts')).defineAdjust,
      ),
      verb(
        'apply [file]',
        'write the stock levels that a file asks for',
        async () => (await import('./inventory/apply.ts')).defineApply,
      ),
      verb(
        'export [file]',
        'write all stock levels to a file to edit and apply',
        async () => (await import('./inventory/export.ts')).defineExport,
      ),
      verb(
        'count [session]',
        'count the shop with a scanner, and set the stock to it',
        async () => (await import('./inventory/count.ts')).defineCount,
      ),
      verb(
        'diff <left> <right>',
        'compare the stock of two environments or files',
        async () => (await import('./inventory/diff.ts')).defineDiff,
      ),
      verb(
        'watch',
        'show changes of the stock as they happen',
        async () => (await import('./inventory/watch.ts')).defineWatch,
      ),
    ],
  },
  {
    usage: 'history',
    summary: 'what this machine has changed',
    description: 'What this machine has changed: every write is a run in the history, with all of its rows.',
    commands: [
      verb(
        'list',
        'list the runs, the latest first',
        async () => (await import('./history/show.ts')).defineHistoryList,
      ),
      verb('show <run>', 'show the rows of a run', async () => (await import('./history/show.ts')).defineHistoryShow),
      verb(
        'export [file]',
        'write every row of every run as NDJSON',
        async () => (await import('./history/export.ts')).defineHistoryExport,
      ),
      verb('prune', 'remove old runs', async () => (await import('./history/prune.ts')).defineHistoryPrune),
    ],
  },
  verb('undo [run]', 'take back what a run has written', async () => (await import('./undo.ts')).defineUndo),
  verb(
    'limits',
    'show what is left of the rate limit, without a request',
    async () => (await import('./limits.ts')).defineLimits,
  ),
  verb(
    'status',
    'check the environment, its address and its key',
    async () => (await import('./status.ts')).defineStatus,
  ),
  {
    usage: 'state',
    summary: 'what petstock keeps on this machine',
    description:
      'What petstock keeps on this machine for its commands: the limits of each key, who writes which pet, and the history.',
    commands: [
      verb(
        'info',
        'show where it is, how large, and who uses it',
        async () => (await import('./state.ts')).defineStateInfo,
      ),
      verb('check', 'check whether it is sound', async () => (await import('./state.ts')).defineStateCheck),
      verb(
        'grant',
        'print the rights that a role needs of a shared state',
        async () => (await import('./state.ts')).defineStateGrant,
      ),
    ],
  },
  {
    usage: 'config',
    summary: 'keys, URLs and settings of this machine',
    description: 'Keys, URLs and settings of this machine. Nothing here talks to the service.',
    examples: examples([
      ['petstock config set-url https://stock.example.com/v1 --env production'],
      ['petstock config set-key --env production'],
      ['petstock config list'],
    ]),
    commands: [
      verb(
        'set-key',
        'store the key of one environment',
        async () => (await import('./config/set-key.ts')).defineSetKey,
      ),
      verb(
        'unset-key',
        'forget the key of one environment',
        async () => (await import('./config/set-key.ts')).defineUnsetKey,
      ),
      verb(
        'set-url <url>',
        'store the base URL of one environment',
        async () => (await import('./config/set.ts')).defineSetUrl,
      ),
      verb('set <name> [value]', 'change a setting', async () => (await import('./config/set.ts')).defineSet),
      verb('get <name>', 'print one value', async () => (await import('./config/show.ts')).defineGet),
      verb('unset <name>', 'remove a setting or URL', async () => (await import('./config/set.ts')).defineUnset),
      verb(
        'list',
        'show everything that is set, and where it comes from',
        async () => (await import('./config/show.ts')).defineList,
      ),
      verb('path', 'print where the configuration file is', async () => (await import('./config/show.ts')).definePath),
    ],
  },
  {
    usage: 'pets',
    summary: 'look at pet records (deprecated by the service)',
    description: 'Looks at pet records. The service has deprecated this operation.',
    commands: [
      verb('get <petId>', 'show the record of one pet', async () => (await import('./payloads.ts')).definePetsGet),
    ],
  },
  {
    usage: 'orders',
    summary: 'look at store orders',
    description: 'Looks at store orders.',
    commands: [verb('list', 'list the store orders', async () => (await import('./payloads.ts')).defineOrdersList)],
  },
  verb(
    'api <method> <path>',
    'send any request, with the key and within the rate limit',
    async () => (await import('./api.ts')).defineApi,
  ),
  {
    usage: 'sandbox',
    summary: 'the embedded service, to try things and to test against',
    description: 'The embedded service: a real one, on this machine alone. `--env sandbox` starts it for one command.',
    commands: [
      verb(
        'serve',
        'serve the embedded service on a port, for any client',
        async () => (await import('./sandbox/serve.ts')).defineServe,
      ),
      verb(
        'reset',
        'throw the stock of the sandbox away and seed a fresh one',
        async () => (await import('./sandbox/info.ts')).defineReset,
      ),
      verb(
        'info',
        'show where the sandbox is kept, its key and its plan',
        async () => (await import('./sandbox/info.ts')).defineInfo,
      ),
      verb(
        'import <file>',
        'put a stock of your own in the place of the one that is there',
        async () => (await import('./sandbox/files.ts')).defineImport,
      ),
      verb(
        'export [file]',
        'write the stock as CSV or JSON',
        async () => (await import('./sandbox/files.ts')).defineExport,
      ),
      verb(
        'backup <file>',
        'copy the database, while it is served or not',
        async () => (await import('./sandbox/files.ts')).defineBackup,
      ),
      {
        usage: 'keys',
        summary: 'issue, list and revoke keys of the embedded service',
        description: 'Issues, lists and revokes keys of the embedded service, while it is served or not.',
        commands: [
          verb('create', 'issue a key', async () => (await import('./sandbox/keys.ts')).defineCreate),
          verb('list', 'list all keys', async () => (await import('./sandbox/keys.ts')).defineList),
          verb(
            'revoke <id>',
            'end the validity of a key',
            async () => (await import('./sandbox/keys.ts')).defineRevoke,
          ),
        ],
      },
      verb(
        'openapi',
        'print the contract of the service as an OpenAPI document',
        async () => (await import('./sandbox/info.ts')).defineOpenApi,
      ),
    ],
  },
  verb(
    'completion <shell>',
    'print a script that completes commands at TAB',
    async () => (await import('./completion.ts')).defineCompletion,
  ),
  verb(
    'licenses',
    'show the licences of petstock and of what goes with it',
    async () => (await import('./licenses.ts')).defineLicenses,
  ),
];

export function helpOutline(options: HelpOptions): VerbOutline {
  return verb('help [words...]', 'show help for a command or a topic', async () => {
    const { defineHelp } = await import('./help/help.ts');
    return (command) => defineHelp(command, options);
  });
}
