import type { Argument, Command, Option } from 'commander';
import { finish, PetstockCommand } from '../../src/cli/commands/command.ts';
import { createProgram } from '../../src/cli/program.ts';

/** What a command takes and does, as its help says it. Manual, documents and completion are made of this. */
export interface CommandFacts {
  /** `inventory list`; '' for the program. */
  readonly path: string;
  /** The ways to call it: `petstock inventory get [options] <petId...>`. */
  readonly usages: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly operands: readonly OperandFacts[];
  readonly options: readonly OptionFacts[];
  /** What its help has below the options, examples among it. */
  readonly notes: string;
  readonly commands: readonly CommandFacts[];
  /** It does nothing by itself. */
  readonly isNoun: boolean;
}

export interface OperandFacts {
  /** `petId` */
  readonly name: string;
  /** As usage shows it: `<petId...>`. */
  readonly term: string;
  readonly description: string;
  readonly isVariadic: boolean;
}

export interface OptionFacts {
  /** `-e, --env <name>` */
  readonly term: string;
  /** `-e`, `--env` */
  readonly flags: readonly string[];
  /** What stands for its value: `<name>`; undefined where it takes none. */
  readonly placeholder: string | undefined;
  readonly description: string;
  /** Takes all words that follow. */
  readonly isVariadic: boolean;
  /** May be given several times. */
  readonly isRepeatable: boolean;
}

/** The program with all of its commands, in the order of its help. */
export async function commandFacts(): Promise<CommandFacts> {
  let shown = '';
  const writeOut = (text: string) => {
    shown += text;
  };
  const run = () => async () => {
    throw new Error('no command is run to describe it');
  };
  // Wider than any text, so that nothing is wrapped.
  const program = createProgram({ writeOut, width: 10_000, run });
  return factsOf(program, '', (command) => {
    shown = '';
    command.outputHelp();
    return shown;
  });
}

async function factsOf(command: Command, path: string, helpOf: (command: Command) => string): Promise<CommandFacts> {
  await finish(command);
  const commands: CommandFacts[] = [];
  for (const child of command.commands) commands.push(await factsOf(child, `${path} ${child.name()}`.trim(), helpOf));
  const help = command.createHelp();
  return {
    path,
    usages: help.commandUsage(command).split(/\n\s*/),
    summary: command.summary(),
    description: command.description(),
    operands: command.registeredArguments.map(operandFacts),
    options: [...command.options, ...help.visibleOptions(command).filter(({ long }) => long === '--help')].map(
      optionFacts,
    ),
    // What was added to the help has no other record.
    notes: helpOf(command).slice(command.helpInformation().length).trim(),
    commands,
    isNoun: command instanceof PetstockCommand && command.outline !== undefined && 'commands' in command.outline,
  };
}

function operandFacts(operand: Argument): OperandFacts {
  const dots = operand.variadic ? '...' : '';
  const name = operand.name();
  return {
    name,
    term: operand.required ? `<${name}${dots}>` : `[${name}${dots}]`,
    description: operand.description,
    isVariadic: operand.variadic,
  };
}

function optionFacts(option: Option): OptionFacts {
  const { flags, short, long, variadic, parseArg, description } = option;
  return {
    term: flags,
    flags: [short, long].filter((flag) => flag !== undefined),
    placeholder: /[<[].*$/.exec(flags)?.[0],
    description,
    isVariadic: variadic,
    isRepeatable: variadic || parseArg !== undefined,
  };
}
