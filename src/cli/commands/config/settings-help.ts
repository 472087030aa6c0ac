import { settingDefinitions, settingNames } from '../../../settings/names.ts';

/** The settings with what they take, for the help of the commands that set and unset them. */
export function settingsHelp(): string {
  const lines = settingNames.map((name) => {
    const { values, meaning, defaultValue } = settingDefinitions[name];
    const fallback = defaultValue === undefined ? '' : ` (default: ${defaultValue})`;
    return `  ${name.padEnd(12)}  ${values}\n${' '.repeat(16)}${meaning}${fallback}`;
  });
  return `\nSettings:\n${lines.join('\n')}\n`;
}
