import type { VerbOutline } from '../lazy-commands.ts';

/** @param writeOut takes the text of help */
export function helpOutline(writeOut: (text: string) => void): VerbOutline {
  return {
    usage: 'help [words...]',
    summary: 'show help for a command or a topic',
    load: async () => {
      const { defineHelp } = await import('./help.ts');
      return (command) => defineHelp(command, writeOut);
    },
  };
}
