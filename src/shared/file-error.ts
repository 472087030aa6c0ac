/** Windows lets no program replace what another one has open. */
export const openElsewhere = 'another program, such as Excel, has it open: close it there and try again';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EACCES: 'you have no permission to write there',
  EPERM: 'you have no permission to write there',
  EROFS: 'the disk can only be read',
  EBUSY: openElsewhere,
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
  EFBIG: 'the file is larger than it may be',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links lead in a circle',
};

/** The code of the system, such as `ENOENT`; undefined if the failure came from elsewhere. */
export function systemCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** Returns why a file or folder could not be made or written, as the end of a sentence; the system's own message if no better is known. */
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

/** Returns why a file could not be read, as the end of a sentence; the system's own message if no better is known. */
export function readErrorReason(error: unknown): string {
  return readReasons[systemCode(error) ?? ''] ?? fileErrorReason(error);
}

/** The refusals of the system that are about no one file that could be named, as messages. */
const failures: Readonly<Record<string, string>> = {
  ENOSPC: 'There is no space left on the disk; make room and try again',
  EDQUOT: 'Your share of the disk is full; make room and try again',
  EROFS: 'The disk can only be read',
  EIO: 'The disk or terminal failed to read or write',
  EMFILE: 'Too many files are open; raise the limit with ulimit -n',
  ENFILE: 'Too many files are open on this machine',
};

/** A failure of the system without a file in it, in words; undefined if no better are known than its own. */
export function systemFailureText(error: unknown): string | undefined {
  return failures[systemCode(error) ?? ''];
}
