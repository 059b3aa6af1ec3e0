import { createHash } from 'node:crypto';
import { lstat, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidInputError, rootSessionId, type SessionKey } from '../../../core/index.ts';
import { WorkspaceFolder } from './workspace-folder.ts';
import type { ToolEnvironment } from './tool-environment.ts';

/** What a session may ask for. */
export interface EnvironmentConfig {
  readonly env?: { readonly [name: string]: string };
  /** One name. Sessions of the same user that give the same name share the folder; a session without one has its own. */
  readonly workingFolder?: string;
}

/** Where sessions have their folders, and what they may ask for: anything else is refused with InvalidInputError. */
export interface EnvironmentRules {
  /** A folder that exists. One folder is made in it for each session, and belongs to whom this one belongs to. */
  readonly root: string;
  /** The variables a session may set; any, when missing. */
  readonly variables?: readonly string[];
  /** As for the file tools: goes without what the system cannot hold off. */
  readonly unsandboxed?: boolean;
}

const MAX_VARIABLES = 100;
const MAX_VALUE_LENGTH = 32 * 1024;
/** What a shell keeps for itself: to set it would be in vain. */
const SHELL_VARIABLES =
  /^(?:BASH.*|DIRSTACK|E?UID|EPOCH.*|FUNCNAME|GROUPS|IFS|LINENO|OLDPWD|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|_)$/;

/** The working folders of all sessions of a runtime, below one root. */
export class Environments {
  readonly #rules: EnvironmentRules;

  constructor(rules: EnvironmentRules) {
    this.#rules = rules;
  }

  /**
   * Reads what a session asks for. All of it is honoured, or it is refused by name: nothing is passed over.
   * @throws InvalidInputError
   */
  parse(config: unknown): EnvironmentConfig {
    if (typeof config !== 'object' || config === null || Array.isArray(config)) {
      throw new InvalidInputError('environment', 'must be an object.');
    }
    const fields: { readonly [name: string]: unknown } = { ...config };
    const { env, workingFolder, ...rest } = fields;
    for (const name of Object.keys(rest)) {
      throw new InvalidInputError(
        `environment.${name}`,
        'is not known: env and workingFolder are.',
      );
    }
    return {
      ...(env === undefined ? {} : { env: this.#variables(env) }),
      ...(workingFolder === undefined ? {} : { workingFolder: folderName(workingFolder) }),
    };
  }

  /** The environment of a session; its folder is made when it is not there. @throws InvalidInputError, FileError */
  async open(session: SessionKey, config: EnvironmentConfig = {}): Promise<ToolEnvironment> {
    const { env, workingFolder } = this.parse(config);
    const path = await realpath(this.#rules.root);
    const sessionFolder = sessionFolderName(session);
    // A called agent goes on in the folder that it began in.
    const usesSessionFolder =
      workingFolder === undefined && (await isFolder(join(path, sessionFolder)));
    const names = usesSessionFolder ? [sessionFolder] : namesFor(session, workingFolder);
    const [outer = '', inner] = names;
    await using root = await WorkspaceFolder.open(this.#rules.root, this.#rules);
    await using first = await root.child(outer, { create: true });
    await using _ = inner === undefined ? undefined : await first.child(inner, { create: true });
    const folder = join(path, ...names);
    return env === undefined ? { folder } : { folder, env };
  }

  /**
   * Deletes the folder that only this session has, and those of the agents that it called, with all that is in them. One
   * that has a name is kept. A link is removed, and never followed.
   */
  async remove(session: SessionKey): Promise<void> {
    const root = await realpath(this.#rules.root);
    // A link in place of the folder of called agents leads elsewhere: then there is nothing of ours behind it.
    const [outer = '', inner] = namesFor(session);
    const own = inner === undefined || (await isFolder(join(root, outer))) ? [[outer, inner]] : [];
    const removed = [...own, [sessionFolderName(session)], [calledAgentsName(session)]];
    for (const names of removed) {
      const path = join(root, ...names.filter((name) => name !== undefined));
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  #variables(env: unknown): { readonly [name: string]: string } {
    if (typeof env !== 'object' || env === null || Array.isArray(env)) {
      throw new InvalidInputError('environment.env', 'must be an object of texts.');
    }
    const all = Object.entries(env);
    if (all.length > MAX_VARIABLES) {
      throw new InvalidInputError('environment.env', `has more than ${MAX_VARIABLES} variables.`);
    }
    return Object.fromEntries(all.map(([name, value]) => [name, this.#value(name, value)]));
  }

  #value(name: string, value: unknown): string {
    const refuse = (why: string): InvalidInputError =>
      new InvalidInputError(`environment.env.${name}`, why);
    const { variables } = this.#rules;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw refuse('is not a name of a variable.');
    if (SHELL_VARIABLES.test(name)) throw refuse('belongs to the shell, which would set it anew.');
    if (variables !== undefined && !variables.includes(name)) {
      throw refuse(`is not allowed here: ${variables.join(', ') || 'none'} may be set.`);
    }
    if (typeof value !== 'string' || value.includes('\0'))
      throw refuse('must be a text without NUL.');
    if (value.length > MAX_VALUE_LENGTH)
      throw refuse(`is longer than ${MAX_VALUE_LENGTH} characters.`);
    return value;
  }
}

// One name: a folder inside another could be moved by a command that works in the outer one.
function folderName(value: unknown): string {
  if (typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(value)) return value;
  throw new InvalidInputError(
    'environment.workingFolder',
    'must be one name of letters, digits, ".", "_" and "-", at most 100, and begin with a letter or digit.',
  );
}

/** The folders on the way to a session's own, below the root: no command works in any but the last. */
function namesFor(session: SessionKey, workingFolder?: string): readonly string[] {
  if (workingFolder !== undefined) return [`${ownerHash(session)}-folder-${workingFolder}`];
  const { sessionId } = session;
  const rootId = rootSessionId(sessionId);
  return rootId === sessionId
    ? [sessionFolderName(session)]
    : [calledAgentsName({ ...session, sessionId: rootId }), hash([sessionId])];
}

/** Where the agents that a session called have their folders. */
function calledAgentsName(session: SessionKey): string {
  return `${ownerHash(session)}-agents-${hash([session.sessionId])}`;
}

/** The folder of a session, which was also that of a called agent's once. */
function sessionFolderName(session: SessionKey): string {
  return `${ownerHash(session)}-session-${hash([session.sessionId])}`;
}

function ownerHash({ appName, userId }: SessionKey): string {
  return hash([appName, userId]);
}

async function isFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}

function hash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
