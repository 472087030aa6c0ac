import type { NounOutline } from '../outline.ts';

export const sandboxOutline: NounOutline = {
  usage: 'sandbox',
  summary: 'the embedded service, to try things and to test against',
  description: 'The embedded service: a real one, on this machine alone. `--env sandbox` starts it for one command.',
  commands: [
    {
      usage: 'serve',
      summary: 'serve the embedded service on a port, for any client',
      load: async () => (await import('./serve.ts')).defineServe,
    },
    {
      usage: 'reset',
      summary: 'throw the stock of the sandbox away and seed a fresh one',
      load: async () => (await import('./reset.ts')).defineReset,
    },
    {
      usage: 'info',
      summary: 'show where the sandbox is kept, its key and its plan',
      load: async () => (await import('./reset.ts')).defineInfo,
    },
    {
      usage: 'import <file>',
      summary: 'put a stock of your own in the place of the one that is there',
      load: async () => (await import('./import.ts')).defineImport,
    },
    {
      usage: 'export [file]',
      summary: 'write the stock as CSV or JSON',
      load: async () => (await import('./export.ts')).defineExport,
    },
    {
      usage: 'backup <file>',
      summary: 'copy the database, while it is served or not',
      load: async () => (await import('./backup.ts')).defineBackup,
    },
    {
      usage: 'keys',
      summary: 'issue, list and revoke keys of the embedded service',
      description: 'Issues, lists and revokes keys of the embedded service, while it is served or not.',
      commands: [
        { usage: 'create', summary: 'issue a key', load: async () => (await import('./keys.ts')).defineCreate },
        { usage: 'list', summary: 'list all keys', load: async () => (await import('./keys.ts')).defineList },
        {
          usage: 'revoke <id>',
          summary: 'end the validity of a key',
          load: async () => (await import('./keys.ts')).defineRevoke,
        },
      ],
    },
    {
      usage: 'openapi',
      summary: 'print the contract of the service as an OpenAPI document',
      load: async () => (await import('./openapi.ts')).defineOpenApi,
    },
  ],
};
