import type { Command } from 'commander';
import { isPetStatus, petStatuses } from '../../../inventory/items.ts';
import { type Parsed, parsePetId } from '../../../inventory/values.ts';
import type { Format } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { collect, listOf } from '../values.ts';

interface WatchFlags {
  readonly interval?: string;
  readonly pet?: readonly string[];
  readonly status?: readonly string[];
  readonly low?: boolean;
  readonly for?: string;
  readonly first?: boolean;
}

const defaultInterval = 15;

export function defineWatch(command: Command, run: Run): void {
  command
    .description(
      'Looks at the stock again and again, and prints a line for each change: with the time on a terminal, as NDJSON elsewhere. ' +
        'Takes one request a look, and never more than a tenth of the rate limit: where that is less, it looks less often and ' +
        'says so. It goes on whatever the service answers, except where the key is not accepted (401). Ctrl-C ends it with 0.',
    )
    .option('--interval <s>', `seconds from one look to the next (default: ${defaultInterval})`)
    .option('--pet <id,…>', 'only these pets', collect)
    .option('--status <s,…>', 'only pets that have, or had until then, one of these statuses', collect)
    .option('--low', 'only what falls to or below the setting low-stock')
    .option('--for <s>', 'end after this many seconds')
    .option('--first', 'exit 0 after the first look that finds a change; exit 3 if --for ends without one')
    .addHelpText(
      'after',
      examples([
        ['petstock inventory watch --for 2 --interval 1', 'for two seconds'],
        [
          'petstock inventory watch --low --first --for 3 || echo "nothing is running out"',
          'wait until something runs out',
        ],
        ['petstock inventory watch --pet 4,5 --for 1 -o ndjson', 'for a script'],
      ]),
    )
    .action(
      run<WatchFlags>(async (invocation, flags) => {
        const interval = secondsOf('--interval', flags.interval) ?? defaultInterval;
        if (interval < least) throw new UsageError(`--interval takes ${least} seconds or more`);
        const options = {
          interval: interval * 1000,
          duration: milliseconds(secondsOf('--for', flags.for)),
          petIds: listOf(flags.pet, '--pet', parsePetId),
          statuses: listOf(flags.status, '--status', parseStatus),
          low: flags.low === true,
          first: flags.first === true,
          format: formatOf(invocation),
        };
        const { runWatch } = await import('./run-watch.ts');
        await runWatch(invocation, options);
      }),
    );
}

/** In seconds: no stock is looked at more often, whatever the limit. */
const least = 0.1;

/** @returns undefined where the option is absent */
function secondsOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,7}(\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError(`${option} takes a number of seconds, such as 15; not "${text}"`);
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

function parseStatus(text: string): Parsed<string> {
  if (isPetStatus(text)) return { ok: true, value: text };
  return { ok: false, fault: `"${text}" is not a status; valid are ${petStatuses.join(', ')}` };
}

/** A JSON array has no end here: with --json it is a line for each change too. */
function formatOf({ globals, config, context }: Invocation): Format {
  const chosen = (globals.json ? 'json' : globals.output) ?? config.settings.output;
  if (chosen === undefined) return context.stdout.isTerminal ? 'table' : 'ndjson';
  return chosen === 'json' ? 'ndjson' : (chosen as Format);
}
