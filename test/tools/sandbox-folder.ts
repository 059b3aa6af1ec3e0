import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { bubblewrap } from '../../src/tools/sandbox/bubblewrap.ts';

/** Creates a folder that a sandbox may write to. Commands never run as root. */
export function sandboxFolder(name: string): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), `petrichor-${name}-`));
  if (userInfo().uid === 0) chownSync(path, 65_534, 65_534);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** For `skip`: false if commands can be confined on this machine, otherwise the reason why not. */
export async function noSandboxReason(): Promise<string | false> {
  try {
    await bubblewrap().check();
    return false;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
