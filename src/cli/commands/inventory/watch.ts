import { parsePetStatus } from '../../../inventory/items.ts';
import { parsePetId } from '../../../inventory/values.ts';
import type { Format } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define, fieldsOption } from '../command.ts';
import { collect, listOf } from '../values.ts';

const defaultInterval = 15;

export const defineWatch = define({
  description:
    'Looks at the stock again and again, and prints a line for each change: with the time on a terminal, as NDJSON elsewhere. ' +
    'Takes one request a look, and never more than a tenth of the rate limit: if that is less, it looks less often and ' +
    'says so. It goes on whatever the service answers, unless the key is not accepted (401). Ctrl-C ends it with 0.',
  options: [
    ['--interval <s>', `seconds from one look to the next (default: ${defaultInterval})`],
    ['--pet <id,…>', 'only these pets', collect],
    ['--status <s,…>', 'only pets that have, or had until then, one of these statuses', collect],
    ['--low', 'only what falls to or below the setting low-stock, and is available'],
    ['--for <s>', 'end after this many seconds'],
    ['--first', 'exit 0 after the first look that finds a change; exit 3 if --for ends without one'],
    ['--now', 'begin with the stock as it is now'],
    fieldsOption,
  ],
  examples: [
    ['petstock inventory watch --for 2 --interval 1', 'for two seconds'],
    [
      'petstock inventory watch --low --first --for 3 || echo "nothing is running out"',
      'wait until something runs out',
    ],
    ['petstock inventory watch --pet 4,5 --now --for 1 -o ndjson', 'for a script'],
  ],
  action: async (invocation, flags) => {
    const interval = secondsOf('--interval', flags.interval) ?? defaultInterval;
    if (interval < leastInterval) throw new UsageError(`--interval takes ${leastInterval} seconds or more`);
    const duration = secondsOf('--for', flags.for);
    const options = {
      interval: interval * 1000,
      duration: duration && duration * 1000,
      petIds: listOf(flags.pet, '--pet', parsePetId),
      statuses: listOf(flags.status, '--status', parsePetStatus),
      low: flags.low === true,
      first: flags.first === true,
      now: flags.now === true,
      format: formatOf(invocation),
    };
    const { runWatch } = await import('./run-watch.ts');
    await runWatch(invocation, options);
  },
});

/** Seconds: no stock is looked at more often, whatever the limit. */
const leastInterval = 0.1;

/** Returns undefined if the option is absent. */
function secondsOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,7}(\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError(`${option} takes a number of seconds, such as 15; not "${text}"`);
}

/** A JSON array has no end here: with --json it is a line for each change too. */
function formatOf({ globals, config, context }: Invocation): Format {
  const chosen = (globals.json ? 'json' : globals.output) ?? config.settings.output;
  if (chosen === undefined) return context.stdout.isTerminal ? 'table' : 'ndjson';
  return chosen === 'json' ? 'ndjson' : (chosen as Format);
}
