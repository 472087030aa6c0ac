import type { Column, Row } from '../../../output/view.ts';
import { type ConfigFile, configOf } from '../../../settings/config-file.ts';
import { hasKey, keySource, resolveBaseUrl } from '../../../settings/resolve.ts';
import { remoteEnvironmentNames } from '../../../settings/settings.ts';
import { type Environment, storesOfVariables } from '../../../settings/variables.ts';
import { UsageError } from '../../../shared/errors.ts';
import { define, fieldsOption } from '../define.ts';

const columns: readonly Column[] = [
  { field: 'store', title: 'Store', cell: (name) => String(name ?? '-') },
  { field: 'env', title: 'Environment' },
  { field: 'url', title: 'URL', whole: true, cell: (url) => String(url ?? '-') },
  { field: 'hasKey', title: 'Key', cell: (has) => (has ? 'set' : 'not set') },
];

/** The JSON of this command is `[{"store","env","url","hasKey"}]`. */
export const defineStores = define({
  description:
    'Shows each environment of each store that has an address or a key, sorted by store; the store without a name comes first. ' +
    'Environment variables count like stored values. Keys are not shown.',
  options: [fieldsOption],
  examples: [
    ['petstock config stores'],
    ["petstock config stores --json | jq -r '.[] | select(.hasKey and .store) | .store'", 'the stores that have a key'],
  ],
  action: async ({ context, configFile, globals, target, messages, results }) => {
    const rows: Row[] = [];
    for (const { store, env } of targetsIn(context.env, configFile)) {
      if (globals.store !== undefined && store !== target.store) continue;
      if (globals.env !== undefined && env !== target.env) continue;
      const config = configOf(configFile, store);
      let url: string | null = null;
      try {
        url = resolveBaseUrl(env, context.env, config)?.value ?? null;
      } catch (error) {
        // An invalid variable must not hide other stores.
        if (!(error instanceof UsageError)) throw error;
        await messages.warn(error.message);
      }
      const isKeySet = keySource(env, context.env, store) !== undefined || hasKey(env, config);
      if (url !== null || isKeySet) rows.push({ store: store ?? null, env, url, hasKey: isKeySet });
    }
    await results.print({ columns, rows: [rows], shape: 'list' });
  },
});

function targetsIn(env: Environment, { stores }: ConfigFile) {
  const named = [...new Set([...Object.keys(stores), ...storesOfVariables(env)])].sort();
  return [undefined, ...named].flatMap((store) => remoteEnvironmentNames.map((name) => ({ store, env: name })));
}
