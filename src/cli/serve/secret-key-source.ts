import { getErrorCode } from '../../core/internal.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseStoreUrl } from '../../store/index.ts';

/**
 * The source of a server's encryption key for secrets: the environment, or for a SQLite store a key
 * file beside it, which is created on first use and readable only by its owner. Undefined for other
 * stores: a key in memory would be lost with the process.
 */
export function secretKeySource(
  storeUrl: string,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): string | (() => string) | undefined {
  const fromEnvironment = env['PETRICHOR_SECRET_KEY'] ?? '';
  if (fromEnvironment !== '') return fromEnvironment;
  const parsed = parseStoreUrl(storeUrl);
  if (parsed.kind !== 'sqlite') return undefined;
  const file = `${resolve(cwd, parsed.file)}-secret-key`;
  return () => readOrCreateKey(file);
}

function readOrCreateKey(file: string): string {
  const random = Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(32)));
  try {
    // If two processes create it at once, the second reads the file of the first.
    writeFileSync(file, `${random.toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8').trim();
}
