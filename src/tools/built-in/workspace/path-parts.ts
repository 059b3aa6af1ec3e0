import { FileError } from './file-error.ts';

const MAX_PARTS = 100;
/** In UTF-8 bytes: the limit of file systems. */
const MAX_PART_LENGTH = 255;

/**
 * The names on the way from the working folder to a file. A path is relative, or begins with the
 * path under which commands see the folder. `.` and repeated slashes are ignored; `..` is always
 * rejected.
 * @throws FileError with `path_refused`
 */
export function pathParts(path: string, mountPath: string): readonly string[] {
  const refuse = (why: string): FileError => new FileError('path_refused', path, why);
  if (path.includes('\0')) throw refuse('contains a NUL character.');
  const parts = relativeTo(path, mountPath)
    ?.split('/')
    .filter((part) => part !== '' && part !== '.');
  if (parts === undefined)
    throw refuse('is outside the working folder: use a path relative to it.');
  if (parts.includes('..'))
    throw refuse('".." is not allowed: use a path relative to the working folder.');
  if (parts.length > MAX_PARTS || parts.some((part) => Buffer.byteLength(part) > MAX_PART_LENGTH)) {
    throw refuse(`is too long: at most ${MAX_PARTS} names of ${MAX_PART_LENGTH} bytes each.`);
  }
  return parts;
}

function relativeTo(path: string, mountPath: string): string | undefined {
  if (!path.startsWith('/')) return path;
  if (path === mountPath) return '';
  return path.startsWith(`${mountPath}/`) ? path.slice(mountPath.length + 1) : undefined;
}
