/** Commander imports this name to start subcommands that are programs of their own, of which there are none. */
export const spawn = undefined;
