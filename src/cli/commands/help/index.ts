import type { VerbOutline } from '../outline.ts';
import type { HelpOptions } from './help.ts';

export function helpOutline(options: HelpOptions): VerbOutline {
  return {
    usage: 'help [words...]',
    summary: 'show help for a command or a topic',
    load: async () => {
      const { defineHelp } = await import('./help.ts');
      return (command) => defineHelp(command, options);
    },
  };
}
