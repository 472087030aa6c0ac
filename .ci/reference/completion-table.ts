import type { Command, Option } from 'commander';
import type { TableCommand, TableOption } from '../../src/cli/completion/command-table.ts';
import { allCommands, pathOf, termOf } from './reference.ts';
import { valueKindOf } from './value-kinds.ts';

/** The table for completion, of the commands as they are. @throws Error for a value that `value-kinds.ts` does not know */
export async function completionTable(): Promise<TableCommand> {
  const [program] = await allCommands();
  return tableCommand(program);
}

function tableCommand(command: Command): TableCommand {
  const path = pathOf(command);
  return {
    name: command.parent === null ? '' : command.name(),
    about: command.summary(),
    options: command
      .createHelp()
      .visibleOptions(command)
      .map((option) => tableOption(path, option)),
    operands: command.registeredArguments.map((operand) => ({
      value: valueKindOf(path, [operand.name()], termOf(operand)),
      ...(operand.variadic && { isVariadic: true }),
    })),
    commands: command.commands.map(tableCommand),
  };
}

function tableOption(path: string, { flags, short, long, variadic, parseArg, description }: Option): TableOption {
  const names = [short, long].filter((flag) => flag !== undefined);
  const [placeholder] = /[<[].*$/.exec(flags) ?? [];
  return {
    flags: names,
    // A list of completions has room for little.
    about: description.replace(/ \(.*$|[;:] .*$/s, ''),
    ...(placeholder !== undefined && { value: valueKindOf(path, names, placeholder) }),
    ...(variadic && { isVariadic: true }),
    ...((variadic || parseArg !== undefined) && { isRepeatable: true }),
  };
}
