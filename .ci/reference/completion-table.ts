import type { Option } from 'commander';
import {
  type Command,
  commandsBelow,
  type Kind,
  suggestedByPlaceholder,
  words,
} from '../../src/cli/commands/command.ts';
import { root } from '../../src/cli/commands/root.ts';
import type { TableCommand, TableOption, ValueKind } from '../../src/cli/completion/command-table.ts';
import { commanderOf } from '../../src/cli/program.ts';
import { type SharedOption, sharedOptions } from '../../src/settings/shared-options.ts';

/** Returns the table for completion, made from the commands themselves. */
export function completionTable(): Promise<TableCommand> {
  return tableCommand([], '', root);
}

async function tableCommand(names: readonly string[], name: string, command: Command): Promise<TableCommand> {
  const { summary, operands = {}, options = [] } = command;
  const commander = commanderOf(names, command);
  const kinds = new Map(options.map(([flags, , kind]) => [flags, kind]));
  return {
    name,
    about: summary,
    options: commander
      .createHelp()
      .visibleOptions(commander)
      .map((option) => tableOption(option, kinds.get(option.flags))),
    operands: Object.entries(operands).map(([operand, row]) => {
      const placeholder = operand.slice(1, -1).replace('...', '');
      return {
        value: typeof row === 'string' ? suggestedFor(placeholder) : row[1].suggests,
        ...(operand.includes('...') && { isVariadic: true as const }),
      };
    }),
    commands: await Promise.all(
      (await commandsBelow(command)).map((each) => tableCommand([...names, each.name], each.name, each.command)),
    ),
  };
}

function tableOption({ flags, short, long, description }: Option, kind: Kind<unknown> | undefined): TableOption {
  const [, placeholder] = /<(.*?)>/.exec(flags) ?? [];
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    // A list of completions has little space, so only the first phrase of a description is kept.
    about: description.replace(/ \(.*$|[;:] .*$/s, ''),
    ...(placeholder !== undefined && { value: kind?.suggests ?? ofShared(flags) ?? suggestedFor(placeholder) }),
    ...(kind !== undefined && 'isRepeated' in kind && { isRepeatable: true }),
  };
}

function suggestedFor(placeholder: string): ValueKind {
  return suggestedByPlaceholder[placeholder] ?? { kind: 'words', words: [] };
}

/** Returns what is suggested for an option that all commands share; undefined if it tells nothing. */
function ofShared(flags: string): ValueKind | undefined {
  const { suggests } = Object.values<SharedOption>(sharedOptions).find((row) => row.flags === flags) ?? {};
  return suggests === 'stores' ? { kind: 'stores' } : suggests && words(suggests).suggests;
}
