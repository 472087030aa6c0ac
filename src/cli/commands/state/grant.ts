import type { Command } from 'commander';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';

interface GrantOptions {
  readonly print?: string;
}

export function defineStateGrant(command: Command, run: Run): void {
  command
    .description(
      'Prints the SQL that gives a role of PostgreSQL what petstock needs of a shared state, and nothing more. The owner of the state runs it: ' +
        'whoever has run the first command by it. Sends nothing.',
    )
    .option('--print <role>', 'the role that commands of other machines connect as')
    .addHelpText('after', examples([['petstock state grant --print till1 | psql "$OWNER_URL"']]))
    .action(run<GrantOptions>(grant));
}

async function grant(invocation: Invocation, { print: role }: GrantOptions): Promise<void> {
  if (role === undefined || role === '') {
    throw new UsageError('Missing option: --print <role>', { hint: 'petstock state grant --print till1' });
  }
  const { grantsFor } = await import('../../../state/postgres/grants.ts');
  await invocation.results.write(grantsFor(role));
}
