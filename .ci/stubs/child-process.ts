/** Commander imports this name to start subcommands that are separate programs. petstock has none. */
export const spawn = undefined;
