/** The oldest Node that has what this package needs, as in `engines` of the package.json. */
const OLDEST = [22, 13] as const;

/**
 * Returns the message for a Node that is too old, and undefined for any other. This module imports nothing, because it
 * runs in an old Node.
 * @param version the version without `v`, for example `20.20.2`
 */
export function describeOldNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST;
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  return isOld
    ? `Petrichor needs Node ${OLDEST.join('.')} or later; this is v${version}. Install a newer Node: https://nodejs.org.`
    : undefined;
}
