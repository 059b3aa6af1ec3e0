import { FileError } from './file-error.ts';

const MOST_PARTS = 100;
/** In UTF-8 bytes: no file system takes more. */
const LONGEST_PART = 255;

/**
 * The names on the way to a file, from the working folder on. A path is relative, or begins with the folder as commands
 * see it. `.` and doubled slashes count for nothing; `..` is refused wherever it leads.
 * @throws FileError with `path_refused`
 */
export function pathParts(path: string, seenAs: string): readonly string[] {
  const refuse = (why: string): FileError => new FileError('path_refused', path, why);
  if (path.includes('\0')) throw refuse('a path has no NUL character.');
  const parts = relativeTo(path, seenAs)
    ?.split('/')
    .filter((part) => part !== '' && part !== '.');
  if (parts === undefined) throw refuse('is outside: write it relative to the working folder.');
  if (parts.includes('..'))
    throw refuse('".." is not allowed: write it relative to the working folder.');
  if (parts.length > MOST_PARTS || parts.some((part) => Buffer.byteLength(part) > LONGEST_PART)) {
    throw refuse(`is too long: at most ${MOST_PARTS} names of ${LONGEST_PART} bytes.`);
  }
  return parts;
}

function relativeTo(path: string, seenAs: string): string | undefined {
  if (!path.startsWith('/')) return path;
  if (path === seenAs) return '';
  return path.startsWith(`${seenAs}/`) ? path.slice(seenAs.length + 1) : undefined;
}
