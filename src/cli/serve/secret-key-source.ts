import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseStoreUrl } from '../../store/index.ts';

/**
 * Where a server's key for secrets comes from: the environment, else for a SQLite store a file beside it, which is made
 * when it is first needed and which its owner alone can read. Undefined for other stores: a key in the process would end
 * with it.
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
    // Of two processes that make it at once, the second reads what the first made.
    writeFileSync(file, `${random.toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readFileSync(file, 'utf8').trim();
}
