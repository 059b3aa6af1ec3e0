import { FileError } from './file-error.ts';

const MAX_PARTS = 100;
/** In UTF-8 bytes: no file system takes more. */
const MAX_PART_LENGTH = 255;

/**
 * The names on the way to a file, from the working folder on. A path is relative, or begins with the folder as commands
 * see it. `.` and doubled slashes count for nothing; `..` is refused wherever it leads.
 * @throws FileError with `path_refused`
 */
export function pathParts(path: string, mountPath: string): readonly string[] {
  const refuse = (why: string): FileError => new FileError('path_refused', path, why);
  if (path.includes('\0')) throw refuse('a path has no NUL character.');
  const parts = relativeTo(path, mountPath)
    ?.split('/')
    .filter((part) => part !== '' && part !== '.');
  if (parts === undefined) throw refuse('is outside: write it relative to the working folder.');
  if (parts.includes('..'))
    throw refuse('".." is not allowed: write it relative to the working folder.');
  if (parts.length > MAX_PARTS || parts.some((part) => Buffer.byteLength(part) > MAX_PART_LENGTH)) {
    throw refuse(`is too long: at most ${MAX_PARTS} names of ${MAX_PART_LENGTH} bytes.`);
  }
  return parts;
}

function relativeTo(path: string, mountPath: string): string | undefined {
  if (!path.startsWith('/')) return path;
  if (path === mountPath) return '';
  return path.startsWith(`${mountPath}/`) ? path.slice(mountPath.length + 1) : undefined;
}
