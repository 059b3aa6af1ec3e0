import { omitUndefined, checkDefinition } from '../../../core/internal.ts';
import { createHash } from 'node:crypto';
import { lstat, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  InvalidInputError,
  rootSessionId,
  type SessionKey,
  optionTable,
} from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import { WorkspaceFolder } from './workspace-folder.ts';
import type { ToolEnvironment } from './tool-environment.ts';

/** The environment that a session may request. */
export interface EnvironmentConfig {
  readonly env?: { readonly [name: string]: string };
  /**
   * A folder name. Sessions of the same user with the same name share the folder. Default: a folder
   * for this session alone.
   */
  readonly workingFolder?: string;
}

/**
 * Where the working folders are, and what a session may request. Other requests are rejected with
 * `InvalidInputError`.
 */
export interface EnvironmentRules {
  /** An existing folder. Each session gets a folder in it, with the same owner as this one. */
  readonly root: string;
  /** The variables that a session may set. Default: any. */
  readonly variables?: readonly string[];
  /**
   * Allows running without the confinement that the system cannot provide, as for the file tools.
   */
  readonly unsandboxed?: boolean;
}

const MAX_VARIABLES = 100;
const MAX_VALUE_LENGTH = 32 * 1024;
/** Variables that a shell sets itself. Setting them would have no effect. */
const SHELL_VARIABLES =
  /^(?:BASH.*|DIRSTACK|E?UID|EPOCH.*|FUNCNAME|GROUPS|IFS|LINENO|OLDPWD|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|_)$/;

/** The options of `Environments`. */
export const ENVIRONMENT_RULES: OptionTable = optionTable<EnvironmentRules>('Environments', {
  root: true,
  variables: true,
  unsandboxed: true,
});

/** The working folders of all sessions of a runtime, below one root. */
export class Environments {
  readonly #rules: EnvironmentRules;

  constructor(rules: EnvironmentRules) {
    if (new.target === Environments) checkDefinition(ENVIRONMENT_RULES, rules);
    this.#rules = rules;
  }

  /**
   * Parses the environment that a session requests.
   * @throws InvalidInputError for an unknown field, and for a value that cannot be applied
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
        'is not known. The known fields are env and workingFolder.',
      );
    }
    return omitUndefined({
      env: env === undefined ? undefined : this.#variables(env),
      workingFolder: workingFolder === undefined ? undefined : folderName(workingFolder),
    });
  }

  /**
   * Opens the environment of a session and creates its folder if it does not exist.
   * @throws InvalidInputError if `config` is not valid
   * @throws FileError if the folder cannot be opened
   */
  async open(session: SessionKey, config: EnvironmentConfig = {}): Promise<ToolEnvironment> {
    const { env, workingFolder } = this.parse(config);
    const path = await realpath(this.#rules.root);
    const sessionFolder = sessionFolderName(session);
    // A called agent of an earlier version keeps the folder in which it began.
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
   * Deletes the private folder of a session and the folders of the agents that it called, with
   * their content. A named folder is kept. A link is removed and never followed.
   */
  async remove(session: SessionKey): Promise<void> {
    const root = await realpath(this.#rules.root);
    // If a link replaces the folder of called agents, it leads elsewhere and there is nothing to
    // remove behind it.
    const [outer = '', inner] = namesFor(session);
    const ownFolders =
      inner === undefined || (await isFolder(join(root, outer))) ? [[outer, inner]] : [];
    const removed = [...ownFolders, [sessionFolderName(session)], [calledAgentsName(session)]];
    for (const names of removed) {
      const path = join(root, ...names.filter((name) => name !== undefined));
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  #variables(env: unknown): { readonly [name: string]: string } {
    if (typeof env !== 'object' || env === null || Array.isArray(env)) {
      throw new InvalidInputError('environment.env', 'must be an object of strings.');
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
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw refuse('is not a valid variable name.');
    if (SHELL_VARIABLES.test(name)) throw refuse('is a variable that the shell sets itself.');
    if (variables !== undefined && !variables.includes(name)) {
      throw refuse(`is not allowed. Allowed variables: ${variables.join(', ') || 'none'}.`);
    }
    if (typeof value !== 'string' || value.includes('\0'))
      throw refuse('must be a string without NUL.');
    if (value.length > MAX_VALUE_LENGTH)
      throw refuse(`is longer than ${MAX_VALUE_LENGTH} characters.`);
    return value;
  }
}

// A single name: a folder inside another one could be moved by a command that works in the outer
// one.
function folderName(value: unknown): string {
  if (typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(value)) return value;
  throw new InvalidInputError(
    'environment.workingFolder',
    'must be one name of letters, digits, ".", "_" and "-", at most 100, and begin with a letter or digit.',
  );
}

/** The path of a session's folder below the root. No command works in any but the last folder. */
function namesFor(session: SessionKey, workingFolder?: string): readonly string[] {
  if (workingFolder !== undefined) return [`${ownerHash(session)}-folder-${workingFolder}`];
  const { sessionId } = session;
  const rootId = rootSessionId(sessionId);
  return rootId === sessionId
    ? [sessionFolderName(session)]
    : [calledAgentsName({ ...session, sessionId: rootId }), hash([sessionId])];
}

/** The folder that contains the folders of the agents that a session called. */
function calledAgentsName(session: SessionKey): string {
  return `${ownerHash(session)}-agents-${hash([session.sessionId])}`;
}

/** The folder of a session. Earlier versions used it for a called agent, too. */
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
