import { InvalidInputError } from '../../core/index.ts';

const MAX_NAME_LENGTH = 256;
const MAX_METADATA_BYTES = 1000;

/**
 * Checks the size of the metadata of a version.
 * @throws InvalidInputError above 1,000 bytes as JSON
 */
export function checkCustomMetadata(metadata: Readonly<Record<string, string>>): void {
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > MAX_METADATA_BYTES)
    throw new InvalidInputError(
      'customMetadata',
      `must be at most ${MAX_METADATA_BYTES} bytes as JSON; it has ${bytes}.`,
    );
}

/**
 * Checks the name of an artifact, which may become a file name.
 * @throws InvalidInputError if it is empty, longer than 256 characters, or contains a path separator,
 *   `..` or a control character
 */
export function checkArtifactName(name: string): void {
  const bareName = name.startsWith('user:') ? name.slice('user:'.length) : name;
  const problem =
    bareName === ''
      ? 'must not be empty.'
      : name.length > MAX_NAME_LENGTH
        ? `must be at most ${MAX_NAME_LENGTH} characters.`
        : /[/\\\p{Cc}]|\.\./u.test(bareName)
          ? 'must not contain a path separator, ".." or a control character.'
          : undefined;
  if (problem !== undefined) throw new InvalidInputError('artifact name', problem);
}
