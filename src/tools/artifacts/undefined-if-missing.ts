/** Runs a read. Resolves to undefined when it fails because the object does not exist. */
export async function undefinedIfMissing<T>(
  read: () => Promise<T>,
  isMissing: (error: unknown) => boolean,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
