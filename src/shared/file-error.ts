/** Windows does not let a program replace a file that another one has open. */
export const openElsewhere = 'another program, such as Excel, has it open: close it there and try again';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EACCES: 'you have no permission to write there',
  EPERM: 'you have no permission to write there',
  EROFS: 'the disk is read-only',
  EBUSY: openElsewhere,
  ENOSPC: 'the disk is full',
  EDQUOT: 'your disk quota is used up',
  EFBIG: 'the file is too large',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links form a loop',
};

/** Returns the code of a system error, such as `ENOENT`; undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/**
 * Returns why a file or folder could not be created or written, as the end of a sentence; by default the system's own
 * message.
 */
export function fileErrorReason(error: unknown): string {
  return reasons[systemCode(error) ?? ''] ?? (error as Error).message;
}

const readReasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'you have no permission to read it',
  EPERM: 'you have no permission to read it',
};

/** Returns why a file could not be read, as the end of a sentence; by default the system's own message. */
export function readErrorReason(error: unknown): string {
  return readReasons[systemCode(error) ?? ''] ?? fileErrorReason(error);
}

/** Messages for system errors that concern no particular file. */
const failures: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full. Free some space and try again',
  EDQUOT: 'Your disk quota is used up. Free some space and try again',
  EROFS: 'The disk is read-only',
  EIO: 'Reading or writing failed on the disk or terminal',
  EMFILE: 'Too many files are open. Raise the limit with ulimit -n',
  ENFILE: 'Too many files are open on this machine',
};

/** Describes a system error without a file; undefined if its own message is best. */
export function systemFailureText(error: unknown): string | undefined {
  return failures[systemCode(error) ?? ''];
}
