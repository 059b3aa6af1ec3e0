import type { SessionKey } from '../../../core/index.ts';

/** Where the built-in tools of a session work. */
export interface ToolEnvironment {
  /**
   * An absolute path of the host. The file tools reach nothing else, and commands write nowhere
   * else.
   */
  readonly folder: string;
  /**
   * Environment variables for `bash` and `code_execution`. Nothing is inherited from this process.
   */
  readonly env?: { readonly [name: string]: string };
}

/**
 * One environment for all sessions, or a function of the session. The function runs at every call
 * and must return the same environment.
 */
export type ToolEnvironmentSource =
  | ToolEnvironment
  | ((session: SessionKey) => ToolEnvironment | Promise<ToolEnvironment>);

/** The environment of a session. */
export async function resolveEnvironment(
  source: ToolEnvironmentSource,
  session: SessionKey,
): Promise<ToolEnvironment> {
  return typeof source === 'function' ? source(session) : source;
}
