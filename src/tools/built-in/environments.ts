import { createHash } from 'node:crypto';
import { realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidInputError, type SessionKey } from '../../core/index.ts';
import { ConfinedFolder } from './confined-folder.ts';
import type { Environment } from './environment.ts';

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

const MOST_VARIABLES = 100;
const LONGEST_VALUE = 32 * 1024;
/** What a shell keeps for itself: to set it would be in vain. */
const OF_THE_SHELL =
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
  async open(session: SessionKey, config: EnvironmentConfig = {}): Promise<Environment> {
    const { env, workingFolder } = this.parse(config);
    const name = nameFor(session, workingFolder);
    await using root = await ConfinedFolder.open(this.#rules.root, this.#rules);
    await using _ = await root.child(name, { create: true });
    const folder = join(await realpath(this.#rules.root), name);
    return env === undefined ? { folder } : { folder, env };
  }

  /** Deletes the folder that only this session has, with all that is in it. One that has a name is kept. */
  async remove(session: SessionKey): Promise<void> {
    await rm(join(this.#rules.root, nameFor(session)), { recursive: true, force: true });
  }

  #variables(env: unknown): { readonly [name: string]: string } {
    if (typeof env !== 'object' || env === null || Array.isArray(env)) {
      throw new InvalidInputError('environment.env', 'must be an object of texts.');
    }
    const all = Object.entries(env);
    if (all.length > MOST_VARIABLES) {
      throw new InvalidInputError('environment.env', `has more than ${MOST_VARIABLES} variables.`);
    }
    return Object.fromEntries(all.map(([name, value]) => [name, this.#value(name, value)]));
  }

  #value(name: string, value: unknown): string {
    const refuse = (why: string): InvalidInputError =>
      new InvalidInputError(`environment.env.${name}`, why);
    const { variables } = this.#rules;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw refuse('is not a name of a variable.');
    if (OF_THE_SHELL.test(name)) throw refuse('belongs to the shell, which would set it anew.');
    if (variables !== undefined && !variables.includes(name)) {
      throw refuse(`is not allowed here: ${variables.join(', ') || 'none'} may be set.`);
    }
    if (typeof value !== 'string' || value.includes('\0'))
      throw refuse('must be a text without NUL.');
    if (value.length > LONGEST_VALUE) throw refuse(`is longer than ${LONGEST_VALUE} characters.`);
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

function nameFor({ appName, userId, sessionId }: SessionKey, workingFolder?: string): string {
  const owner = hash([appName, userId]);
  return workingFolder === undefined
    ? `${owner}-session-${hash([sessionId])}`
    : `${owner}-folder-${workingFolder}`;
}

function hash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
