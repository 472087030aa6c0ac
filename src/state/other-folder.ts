/** Commands for a POSIX shell that move the state to a folder that can be used: hints. */
export const otherFolderHint = 'export PETSTOCK_STATE_DIR="$HOME/.petstock-state"';
/** On this machine even where the home is on a network. */
export const localFolderHint = 'export PETSTOCK_STATE_DIR="/var/tmp/petstock-$USER"';
