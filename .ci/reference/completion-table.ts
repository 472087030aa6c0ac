import type { TableCommand, TableOperand, TableOption, ValueKind } from '../../src/cli/completion/table.ts';
import { type CommandFacts, commandFacts, type OperandFacts, type OptionFacts } from './command-facts.ts';
import { valueKindOf } from './value-kinds.ts';

const free: ValueKind = { kind: 'free' };

/** The table for completion, of the commands as they are. */
export async function completionTable(): Promise<TableCommand> {
  return tableCommand(await commandFacts());
}

function tableCommand({ path, summary, operands, options, commands }: CommandFacts): TableCommand {
  return {
    name: path.slice(path.lastIndexOf(' ') + 1),
    about: summary,
    options: options.map((option) => tableOption(path, option)),
    operands: operands.map((operand) => tableOperand(path, operand)),
    commands: commands.map(tableCommand),
  };
}

function tableOption(path: string, option: OptionFacts): TableOption {
  const { flags, placeholder, description, isVariadic, isRepeatable } = option;
  return {
    flags,
    about: firstClause(description),
    ...(placeholder !== undefined && { value: valueKindOf(path, flags, placeholder) ?? free }),
    ...(isVariadic && { isVariadic }),
    ...(isRepeatable && { isRepeatable }),
  };
}

function tableOperand(path: string, { name, term, isVariadic }: OperandFacts): TableOperand {
  return { value: valueKindOf(path, [name], term) ?? free, ...(isVariadic && { isVariadic }) };
}

/** A list of completions has room for little. */
function firstClause(description: string): string {
  return description.replace(/ \(.*$|[;:] .*$/s, '');
}
